// The hot kernel reads and writes an array through a surface. The array's address is in no memory.
#include "Hazard.cuh"

constexpr int Side = 512;

__global__ void PRESS hot(cudaSurfaceObject_t Surface) {
  int X = blockIdx.x * blockDim.x + threadIdx.x, Y = blockIdx.y;
  float Value;
  surf2Dread(&Value, Surface, X * int(sizeof(float)), Y);
  surf2Dwrite(mixed(Value, Rounds), Surface, X * int(sizeof(float)), Y);
}

int main() {
  cudaChannelFormatDesc Format = cudaCreateChannelDesc<float>();
  cudaArray_t Array;
  CHECK(cudaMallocArray(&Array, &Format, Side, Side, cudaArraySurfaceLoadStore));
  std::vector<float> Host(Side * Side);
  for (size_t I = 0; I < Host.size(); ++I)
    Host[I] = float(I % 1009) / 1009;
  constexpr size_t RowBytes = Side * sizeof(float);
  CHECK(cudaMemcpy2DToArray(Array, 0, 0, Host.data(), RowBytes, RowBytes, Side,
                            cudaMemcpyHostToDevice));
  cudaResourceDesc Resource{};
  Resource.resType = cudaResourceTypeArray;
  Resource.res.array.array = Array;
  cudaSurfaceObject_t Surface = 0;
  CHECK(cudaCreateSurfaceObject(&Surface, &Resource));
  for (int Launch = 0; Launch < Launches; ++Launch)
    hot<<<dim3(Side / 256, Side), 256>>>(Surface);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy2DFromArray(Host.data(), RowBytes, Array, 0, 0, RowBytes, Side,
                              cudaMemcpyDeviceToHost));
  printHostChecksum("surface", Host.data(), Host.size() * sizeof(float));
}
