// The hot kernel gets an address right after host memory, and one before other host memory, and
// changes what is between them and the memory's other end.
#include "Hazard.cuh"

__global__ void PRESS hot(float *Data, float *End, float *BeforeBegin, int Few) {
  int I = globalThread();
  End[I - Few] += 1; // Shows how often it ran.
  BeforeBegin[I + 1] += 2;
  Data[I] = mixed(Data[I], Rounds);
}

int main() {
  constexpr int Few = 1 << 14;
  float *One = nullptr, *Other = nullptr, *Data = deviceFloats(Few);
  constexpr int Odd = Few + 100; // So that what comes before and after is nobody's.
  float *End = mappedHost(One, Odd) + Odd, *Before = mappedHost(Other, Odd) - 1;
  for (int Launch = 0; Launch < 5 * Launches; ++Launch)
    hot<<<Few / 256, 256>>>(Data, End, Before, Few);
  printChecksum("device", Data, Few);
  printHostChecksum("one", One, Odd * sizeof(float));
  printHostChecksum("other", Other, Odd * sizeof(float));
}
