// Physical memory is mapped to a reserved address, and between launches it is unmapped and mapped
// elsewhere. Needs -lcuda.
#include "Hazard.cuh"

#include <cuda.h>

__global__ void PRESS hot(float *Data) {
  Data[globalThread()] = mixed(Data[globalThread()], Rounds);
}

static void checkDriver(CUresult Status, int Line) {
  if (Status == CUDA_SUCCESS)
    return;
  std::fprintf(stderr, "line %d: error %d\n", Line, int(Status));
  std::exit(90);
}
#define DRIVER(Call) checkDriver((Call), __LINE__)

int main() {
  CHECK(cudaFree(nullptr));
  CUmemAllocationProp Properties{};
  Properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  Properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  size_t Step = 0;
  DRIVER(cuMemGetAllocationGranularity(&Step, &Properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  size_t Bytes = (Count * sizeof(float) + Step - 1) / Step * Step;
  CUdeviceptr Base = 0;
  CUmemGenericAllocationHandle Handle = 0;
  DRIVER(cuMemAddressReserve(&Base, 2 * Bytes, 0, 0, 0));
  DRIVER(cuMemCreate(&Handle, Bytes, &Properties, 0));
  CUmemAccessDesc Access{};
  Access.location = Properties.location;
  Access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  for (int Launch = 0; Launch < Launches; ++Launch) {
    CUdeviceptr At = Base + (Launch / 5 % 2) * Bytes;
    DRIVER(cuMemMap(At, Bytes, 0, Handle, 0));
    DRIVER(cuMemSetAccess(At, Bytes, &Access, 1));
    auto *Data = reinterpret_cast<float *>(At);
    if (Launch == 0)
      CHECK(cudaMemset(Data, 0, Bytes));
    hot<<<Count / 256, 256>>>(Data);
    CHECK(cudaDeviceSynchronize());
    if (Launch == Launches - 1)
      printChecksum("mapped", Data, Count);
    DRIVER(cuMemUnmap(At, Bytes));
  }
  DRIVER(cuMemRelease(Handle));
  DRIVER(cuMemAddressFree(Base, 2 * Bytes));
}
