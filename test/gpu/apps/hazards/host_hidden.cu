// The hot kernel changes memory of the host whose address is in device memory. No argument shows
// it.
#include "Hazard.cuh"

struct Table {
  float *Rows[4];
};

__global__ void PRESS hot(Table *T) {
  float *Row = T->Rows[blockIdx.x % 4];
  int I = blockIdx.x / 4 * blockDim.x + threadIdx.x;
  Row[I] = mixed(Row[I], Rounds) + Row[I] * 0.25f;
}

int main() {
  constexpr int Few = 1 << 12;
  Table Host{}, *Device = nullptr;
  float *Rows = nullptr, *Mapped = mappedHost(Rows, 2 * Few);
  float *Own = deviceFloats(2 * Few);
  for (int R = 0; R < 4; ++R)
    Host.Rows[R] = (R < 2 ? Own : Mapped) + R % 2 * Few;
  CHECK(cudaMalloc(&Device, sizeof(Table)));
  CHECK(cudaMemcpy(Device, &Host, sizeof(Table), cudaMemcpyHostToDevice));
  for (int Launch = 0; Launch < 5 * Launches; ++Launch)
    hot<<<4 * Few / 256, 256>>>(Device);
  printChecksum("device", Own, 2 * Few);
  printHostChecksum("host", Rows, 2 * Few * sizeof(float));
}
