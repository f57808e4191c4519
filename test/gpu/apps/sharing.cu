// Launches that overlap and memory that is not the program's alone, for what a trace notes of them:
//   plain      page-locked host memory, a plain launch and one by cudaLaunchKernelEx
//   all        also a programmatic launch and a call of each kind of hazard
//   loop N     N programmatic launches, with the time of one on stderr
#include "App.cuh"

#include <chrono>
#include <string>

__global__ void work(float *Data, int Count) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count)
    Data[I] = churned(Data[I]);
}

__global__ void follows(float *Data, int Count) {
  cudaGridDependencySynchronize();
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count)
    Data[I] = churned(Data[I]) + 0.75f;
}

static void launch(void (*Kernel)(float *, int), float *Data, int Count, bool Programmatic) {
  cudaLaunchAttribute Attribute{};
  Attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  Attribute.val.programmaticStreamSerializationAllowed = Programmatic;
  cudaLaunchConfig_t Config{};
  Config.gridDim = dim3((Count + 255) / 256);
  Config.blockDim = dim3(256);
  Config.attrs = &Attribute;
  Config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&Config, Kernel, Data, Count));
}

static void loop(float *Data, int Launches) {
  launch(follows, Data, 32, true);
  CHECK(cudaDeviceSynchronize());
  auto Begin = std::chrono::steady_clock::now();
  for (int I = 0; I < Launches; ++I)
    launch(follows, Data, 32, true);
  CHECK(cudaDeviceSynchronize());
  std::chrono::duration<double, std::nano> Time = std::chrono::steady_clock::now() - Begin;
  std::fprintf(stderr, "%.0f ns per launch\n", Time.count() / Launches);
}

static void share(float *Data) {
  float *Managed = nullptr;
  CHECK(cudaMallocManaged(&Managed, 4096));
  void *Mapped = nullptr, *Address = nullptr;
  CHECK(cudaHostAlloc(&Mapped, 4096, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer(&Address, Mapped, 0));
  cudaIpcMemHandle_t Handle;
  (void)cudaIpcGetMemHandle(&Handle, Data); // Containers may forbid it; the attempt counts.
  cudaStream_t Stream;
  cudaGraph_t Graph;
  CHECK(cudaStreamCreate(&Stream));
  CHECK(cudaStreamBeginCapture(Stream, cudaStreamCaptureModeThreadLocal));
  CHECK(cudaStreamEndCapture(Stream, &Graph));
  cudaArray_t Array;
  cudaChannelFormatDesc Format = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocArray(&Array, &Format, 64, 64, cudaArraySurfaceLoadStore));
}

int main(int Argc, char **Argv) {
  std::string Mode = Argc > 1 ? Argv[1] : "plain";
  int Count = 1 << 16;
  float *Data = deviceFloats(Count);
  void *Locked = nullptr;
  CHECK(cudaMallocHost(&Locked, 4096));
  work<<<Count / 256, 256>>>(Data, Count);
  launch(work, Data, Count, false);
  if (Mode == "all") {
    launch(follows, Data, Count, true);
    share(Data);
  }
  if (Mode == "loop")
    loop(Data, std::atoi(Argv[2]));
  else
    printChecksum("sharing", Data, Count);
}
