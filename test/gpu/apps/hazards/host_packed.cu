// The hot kernel changes memory of the host whose address is in a packed structure in device
// memory, and managed memory whose address is in a packed structure among the arguments.
#include "Hazard.cuh"

#include <cstring>

struct Packed {
  char Bytes[32];
};

__device__ float *addressIn(const char *Bytes, int Offset) {
  unsigned long long Address = 0;
  for (int B = 7; B >= 0; --B)
    Address = Address << 8 | static_cast<unsigned char>(Bytes[Offset + B]);
  return reinterpret_cast<float *>(Address);
}

__global__ void PRESS hot(float *Data, const Packed *InMemory, Packed Argument) {
  float *Row = addressIn(InMemory->Bytes, 3), *Shared = addressIn(Argument.Bytes, 13);
  int I = globalThread();
  Row[I] += 1; // The value shows how many times it ran.
  Shared[I] += 2;
  Data[I] = mixed(Data[I], Rounds);
}

int main() {
  constexpr int Few = 1 << 14;
  float *Host = nullptr, *Mapped = mappedHost(Host, Few), *Data = deviceFloats(Few);
  float *Shared = nullptr;
  CHECK(cudaMallocManaged(&Shared, Few * sizeof(float)));
  for (int I = 0; I < Few; ++I)
    Shared[I] = float(I % 11);
  Packed One{}, Other{}, *Device = nullptr;
  std::memcpy(One.Bytes + 3, &Mapped, sizeof Mapped);
  std::memcpy(Other.Bytes + 13, &Shared, sizeof Shared);
  CHECK(cudaMalloc(&Device, sizeof(Packed)));
  CHECK(cudaMemcpy(Device, &One, sizeof(Packed), cudaMemcpyHostToDevice));
  for (int Launch = 0; Launch < 5 * Launches; ++Launch)
    hot<<<Few / 256, 256>>>(Data, Device, Other);
  printChecksum("device", Data, Few);
  printHostChecksum("host", Host, Few * sizeof(float));
  printHostChecksum("managed", Shared, Few * sizeof(float));
}
