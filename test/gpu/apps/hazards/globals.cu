// The hot kernel reads and writes variables of the module, and the program writes its constants, by
// a copy and by a kernel that has their address.
#include "Hazard.cuh"

__device__ float Table[256];
__device__ unsigned Runs;
__constant__ float Factors[8];

__global__ void PRESS hot(float *Data) {
  float Value = mixed(Data[globalThread()], Rounds) * Factors[blockIdx.x % 8];
  Data[globalThread()] = Value + Table[threadIdx.x] + float(Runs % 3);
}

__global__ void PRESS hotTable(const float *Data) {
  if (threadIdx.x == 0)
    Runs += 1;
  Table[threadIdx.x] = mixed(Table[threadIdx.x] + Data[threadIdx.x], 4 * Rounds);
}

__global__ void change(float *Constants) { Constants[threadIdx.x] *= 0.75f; }

int main() {
  float *Data = deviceFloats(Count);
  float Host[8] = {1, 0.5f, 0.25f, 0.75f, 1, 0.5f, 0.25f, 0.75f};
  void *Constants = nullptr;
  CHECK(cudaGetSymbolAddress(&Constants, Factors));
  for (int Launch = 0; Launch < Launches; ++Launch) {
    if (Launch % 4 == 0)
      CHECK(cudaMemcpyToSymbol(Factors, Host, sizeof Host));
    hot<<<Count / 256, 256>>>(Data);
    hotTable<<<1, 256>>>(Data);
    change<<<1, 8>>>(static_cast<float *>(Constants));
  }
  float Tables[256];
  unsigned Total = 0;
  CHECK(cudaMemcpyFromSymbol(Tables, Table, sizeof Tables));
  CHECK(cudaMemcpyFromSymbol(&Total, Runs, sizeof Total));
  printChecksum("data", Data, Count);
  printHostChecksum("table", Tables, sizeof Tables);
  std::printf("runs %u\n", Total);
}
