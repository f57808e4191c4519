// The hot kernel gets an address right after host memory, and one before other host memory, and
// changes what lies between each and the far end of that memory.
#include "Hazard.cuh"

__global__ void PRESS hot(float *Data, float *End, float *BeforeBegin, int Few) {
  int I = globalThread();
  End[I - Few] += 1; // The value shows how many times it ran.
  BeforeBegin[I + 1] += 2;
  Data[I] = mixed(Data[I], Rounds);
}

int main() {
  constexpr int Few = 1 << 14;
  float *One = nullptr, *Other = nullptr, *Data = deviceFloats(Few);
  // The size is not a round number, so that the addresses before and after belong to no allocation.
  constexpr int Odd = Few + 100;
  float *End = mappedHost(One, Odd) + Odd, *Before = mappedHost(Other, Odd) - 1;
  for (int Launch = 0; Launch < 5 * Launches; ++Launch)
    hot<<<Few / 256, 256>>>(Data, End, Before, Few);
  printChecksum("device", Data, Few);
  printHostChecksum("one", One, Odd * sizeof(float));
  printHostChecksum("other", Other, Odd * sizeof(float));
}
