// The hot kernel changes memory of the host whose address it computes itself: no argument and no
// word of device memory is that address.
#include "Hazard.cuh"

constexpr unsigned long long Mask = 0x5a5a000000000001ull;

__global__ void PRESS hot(float *Data, unsigned long long Masked) {
  auto *Row = reinterpret_cast<float *>(Masked ^ Mask);
  int I = globalThread();
  Row[I] += 1; // The value shows how many times it ran.
  Data[I] = mixed(Data[I], Rounds);
}

int main() {
  constexpr int Few = 1 << 14;
  float *Host = nullptr, *Mapped = mappedHost(Host, Few), *Data = deviceFloats(Few);
  for (int Launch = 0; Launch < 5 * Launches; ++Launch)
    hot<<<Few / 256, 256>>>(Data, reinterpret_cast<unsigned long long>(Mapped) ^ Mask);
  printChecksum("device", Data, Few);
  printHostChecksum("host", Host, Few * sizeof(float));
}
