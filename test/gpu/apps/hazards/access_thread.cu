// Another thread takes the access to its own memory away and gives it back, again and again. Needs
// -lcuda.
#include "Hazard.cuh"

#include <atomic>
#include <chrono>
#include <cuda.h>
#include <thread>

__global__ void PRESS hot(float *Data) {
  Data[globalThread()] = mixed(Data[globalThread()], 4 * Rounds);
}

static void checkDriver(CUresult Status, int Line) {
  if (Status == CUDA_SUCCESS)
    return;
  std::fprintf(stderr, "line %d: error %d\n", Line, int(Status));
  std::exit(90);
}
#define DRIVER(Call) checkDriver((Call), __LINE__)

int main() {
  float *Data = deviceFloats(Count);
  CUmemAllocationProp Properties{};
  Properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  Properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  size_t Bytes = 0;
  DRIVER(cuMemGetAllocationGranularity(&Bytes, &Properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  Bytes *= 32;
  CUdeviceptr Base = 0;
  CUmemGenericAllocationHandle Handle = 0;
  DRIVER(cuMemAddressReserve(&Base, Bytes, 0, 0, 0));
  DRIVER(cuMemCreate(&Handle, Bytes, &Properties, 0));
  DRIVER(cuMemMap(Base, Bytes, 0, Handle, 0));
  std::atomic<bool> Stop{false};
  auto Let = [&](CUmemAccess_flags Flags) {
    CUmemAccessDesc Access{};
    Access.location = Properties.location;
    Access.flags = Flags;
    DRIVER(cuMemSetAccess(Base, Bytes, &Access, 1));
  };
  Let(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  CHECK(cudaMemset(reinterpret_cast<void *>(Base), 1, Bytes));
  CHECK(cudaDeviceSynchronize()); // The memory is still being set when cudaMemset() returns.
  std::thread Other([&] {
    CHECK(cudaSetDevice(0));
    while (!Stop) {
      Let(CU_MEM_ACCESS_FLAGS_PROT_NONE);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      Let(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  for (int Launch = 0; Launch < 5 * Launches; ++Launch)
    hot<<<Count / 256, 256>>>(Data);
  CHECK(cudaDeviceSynchronize());
  Stop = true;
  Other.join();
  printChecksum("data", Data, Count);
  printChecksum("own", reinterpret_cast<float *>(Base), Bytes / sizeof(float));
}
