// The hot kernel reads an array through one texture and linear memory through another.
#include "Hazard.cuh"

constexpr int Side = 512;

__global__ void PRESS hot(cudaTextureObject_t Array, cudaTextureObject_t Linear, float *Out) {
  int X = blockIdx.x * blockDim.x + threadIdx.x, Y = blockIdx.y, I = Y * Side + X;
  float Value = tex2D<float>(Array, float(X) + 0.5f, float(Y) + 0.5f) + tex1Dfetch<float>(Linear, I);
  Out[I] = mixed(Value, Rounds) + Out[I] * 0.25f;
}

int main() {
  cudaChannelFormatDesc Format = cudaCreateChannelDesc<float>();
  cudaArray_t Array;
  CHECK(cudaMallocArray(&Array, &Format, Side, Side));
  std::vector<float> Host(Side * Side, 0.75f);
  constexpr size_t RowBytes = Side * sizeof(float);
  CHECK(cudaMemcpy2DToArray(Array, 0, 0, Host.data(), RowBytes, RowBytes, Side,
                            cudaMemcpyHostToDevice));
  float *In = deviceFloats(Side * Side), *Out = deviceFloats(Side * Side);
  cudaTextureDesc Description{};
  cudaResourceDesc Resource{};
  Resource.resType = cudaResourceTypeArray;
  Resource.res.array.array = Array;
  cudaTextureObject_t OfArray = 0, OfLinear = 0;
  CHECK(cudaCreateTextureObject(&OfArray, &Resource, &Description, nullptr));
  Resource.resType = cudaResourceTypeLinear;
  Resource.res.linear.devPtr = In;
  Resource.res.linear.desc = Format;
  Resource.res.linear.sizeInBytes = Side * Side * sizeof(float);
  CHECK(cudaCreateTextureObject(&OfLinear, &Resource, &Description, nullptr));
  for (int Launch = 0; Launch < Launches; ++Launch)
    hot<<<dim3(Side / 256, Side), 256>>>(OfArray, OfLinear, Out);
  printChecksum("texture", Out, Side * Side);
}
