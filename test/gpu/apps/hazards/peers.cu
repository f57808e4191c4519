// Two GPUs: the hot kernel of one reads and writes memory of the other. With one GPU the program
// shows nothing.
#include "Hazard.cuh"

__global__ void PRESS hot(float *Data, float *Far) {
  float Value = mixed(Data[globalThread()], Rounds);
  Data[globalThread()] = Value + Far[globalThread()] * 0.125f;
  Far[globalThread()] = Value * 0.5f;
}

int main() {
  int Devices = 0, Can = 0;
  CHECK(cudaGetDeviceCount(&Devices));
  if (Devices > 1)
    CHECK(cudaDeviceCanAccessPeer(&Can, 0, 1));
  if (!Can) {
    std::printf("one GPU, or none that reaches another\n");
    return 0;
  }
  CHECK(cudaSetDevice(1));
  float *Far = deviceFloats(Count);
  CHECK(cudaSetDevice(0));
  CHECK(cudaDeviceEnablePeerAccess(1, 0));
  float *Data = deviceFloats(Count);
  for (int Launch = 0; Launch < Launches; ++Launch) {
    CHECK(cudaSetDevice(0));
    hot<<<Count / 256, 256>>>(Data, Far);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(1));
    hot<<<Count / 256, 256>>>(Far, Far);
    CHECK(cudaDeviceSynchronize());
  }
  printChecksum("far", Far, Count);
  CHECK(cudaSetDevice(0));
  printChecksum("near", Data, Count);
}
