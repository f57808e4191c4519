// The hot kernel changes a variable of a module that the program has linked at run time. A kernel
// of that module has left the variable's address in memory. Needs -lcuda.
#include "Hazard.cuh"

#include <cstring>
#include <cuda.h>

static const char Ptx[] = R"(
.version 7.8
.target sm_75
.address_size 64
.global .align 16 .b8 Table[16384];
.visible .entry tell(.param .u64 Where)
{
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [Where];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u64 %rd2, Table;
  cvta.global.u64 %rd3, %rd2;
  not.b64 %rd3, %rd3;
  st.global.u64 [%rd1], %rd3;
  ret;
}
)";

__global__ void PRESS hot(float *Data, const unsigned long long *Inverted) {
  auto *Table = reinterpret_cast<float *>(~*Inverted);
  int I = globalThread();
  Table[I] += 1; // The value shows how many times it ran.
  Data[I] = mixed(Data[I], Rounds);
}

static void checkDriver(CUresult Status, int Line) {
  if (Status == CUDA_SUCCESS)
    return;
  std::fprintf(stderr, "line %d: error %d\n", Line, int(Status));
  std::exit(90);
}
#define DRIVER(Call) checkDriver((Call), __LINE__)

int main() {
  constexpr int Few = 4096;
  float *Data = deviceFloats(Few);
  CUlinkState Link = nullptr;
  void *Image = nullptr;
  size_t Bytes = 0;
  DRIVER(cuLinkCreate(0, nullptr, nullptr, &Link));
  DRIVER(cuLinkAddData(Link, CU_JIT_INPUT_PTX, const_cast<char *>(Ptx), sizeof Ptx, "table", 0,
                       nullptr, nullptr));
  DRIVER(cuLinkComplete(Link, &Image, &Bytes));
  CUmodule Module = nullptr;
  CUfunction Tell = nullptr;
  DRIVER(cuModuleLoadData(&Module, Image));
  DRIVER(cuLinkDestroy(Link));
  DRIVER(cuModuleGetFunction(&Tell, Module, "tell"));
  unsigned long long *Inverted = nullptr;
  CHECK(cudaMalloc(&Inverted, sizeof *Inverted));
  void *Arguments[] = {&Inverted};
  DRIVER(cuLaunchKernel(Tell, 1, 1, 1, 1, 1, 1, 0, nullptr, Arguments, nullptr));
  for (int Launch = 0; Launch < 5 * Launches; ++Launch)
    hot<<<Few / 256, 256>>>(Data, Inverted);
  printChecksum("device", Data, Few);
  CUdeviceptr Table = 0;
  DRIVER(cuModuleGetGlobal(&Table, &Bytes, Module, "Table"));
  printChecksum("table", reinterpret_cast<float *>(Table), Bytes / sizeof(float));
}
