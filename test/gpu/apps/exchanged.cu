// Two kernels with the same signature, one with static shared memory and one without. With an
// argument it calls each instead of the other: that is what a run without an argument shows if the
// image has the names exchanged.
#include "App.cuh"

__global__ void plain(float *Data) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  Data[I] = churned(Data[I]);
}

__global__ void tiled(float *Data) {
  __shared__ float Tile[128];
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  Tile[threadIdx.x] = Data[I];
  __syncthreads();
  Data[I] = Tile[(threadIdx.x + 1) % 128] * 1.5f;
}

int main(int Argc, char **) {
  constexpr int Count = 1 << 15;
  auto *First = Argc > 1 ? tiled : plain, *Second = Argc > 1 ? plain : tiled;
  float *One = deviceFloats(Count), *Two = deviceFloats(Count);
  First<<<Count / 128, 128>>>(One);
  Second<<<Count / 128, 128>>>(Two);
  CHECK(cudaGetLastError());
  printChecksum("first", One, Count);
  printChecksum("second", Two, Count);
}
