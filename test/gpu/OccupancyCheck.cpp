// Prints what the driver itself says about the occupancy of kernels, for comparison with `carve
// points`.
//
//   OccupancyCheck CUBIN KERNEL BLOCK DYNSMEM [KERNEL BLOCK DYNSMEM]...
//
// It prints one line per triple, tab-separated with a heading: kernel, block, dynamic shared
// memory, blocks per SM, and the function's attributes. KERNEL is the mangled name, BLOCK a number
// of threads. Exits with 77 if there is no driver or no device, and with 1 if anything else fails.
#include <cuda.h>
#include <dlfcn.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr int NoDevice = 77;

/// The functions of the driver that are called here. The driver is opened at run time, so that the
/// program can be built on a machine without one.
struct Driver {
  decltype(&cuInit) Init = nullptr;
  decltype(&cuDeviceGet) DeviceGet = nullptr;
  decltype(&cuDevicePrimaryCtxRetain) Retain = nullptr;
  decltype(&cuCtxSetCurrent) SetCurrent = nullptr;
  decltype(&cuModuleLoad) ModuleLoad = nullptr;
  decltype(&cuModuleGetFunction) GetFunction = nullptr;
  decltype(&cuFuncGetAttribute) GetAttribute = nullptr;
  decltype(&cuFuncSetAttribute) SetAttribute = nullptr;
  decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor) MaxActiveBlocks = nullptr;
  decltype(&cuGetErrorString) ErrorString = nullptr;
};

template <typename Function> bool resolve(void *Library, const char *Name, Function &Into) {
  Into = reinterpret_cast<Function>(dlsym(Library, Name));
  if (!Into)
    std::fprintf(stderr, "OccupancyCheck: the driver has no %s\n", Name);
  return Into != nullptr;
}

bool openDriver(Driver &D) {
  void *Library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!Library) {
    std::fprintf(stderr, "OccupancyCheck: %s\n", dlerror());
    return false;
  }
  // Names with a version are those to which cuda.h's macros expand.
  return resolve(Library, "cuInit", D.Init) && resolve(Library, "cuDeviceGet", D.DeviceGet) &&
         resolve(Library, "cuDevicePrimaryCtxRetain", D.Retain) &&
         resolve(Library, "cuCtxSetCurrent", D.SetCurrent) &&
         resolve(Library, "cuModuleLoad", D.ModuleLoad) &&
         resolve(Library, "cuModuleGetFunction", D.GetFunction) &&
         resolve(Library, "cuFuncGetAttribute", D.GetAttribute) &&
         resolve(Library, "cuFuncSetAttribute", D.SetAttribute) &&
         resolve(Library, "cuOccupancyMaxActiveBlocksPerMultiprocessor", D.MaxActiveBlocks) &&
         resolve(Library, "cuGetErrorString", D.ErrorString);
}

bool succeeded(const Driver &D, CUresult Result, const std::string &What) {
  if (Result == CUDA_SUCCESS)
    return true;
  const char *Reason = nullptr;
  D.ErrorString(Result, &Reason);
  std::fprintf(stderr, "OccupancyCheck: %s: %s\n", What.c_str(), Reason ? Reason : "unknown error");
  return false;
}

bool parseCount(const char *Text, int &Into) {
  char *End = nullptr;
  errno = 0;
  long Value = std::strtol(Text, &End, 10);
  if (errno || End == Text || *End || Value < 0 || Value > 1 << 30) {
    std::fprintf(stderr, "OccupancyCheck: `%s`, expected a number\n", Text);
    return false;
  }
  Into = static_cast<int>(Value);
  return true;
}

bool printKernel(const Driver &D, CUmodule Module, const char *Name, int Block, int DynamicSmem) {
  CUfunction Function = nullptr;
  if (!succeeded(D, D.GetFunction(&Function, Module, Name), Name))
    return false;
  constexpr CUfunction_attribute Wanted[] = {
      CU_FUNC_ATTRIBUTE_NUM_REGS, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
      CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK};
  constexpr int DefaultSmem = 48 * 1024;
  // A size above the device's limit is refused, and the driver then answers 0 blocks.
  if (DynamicSmem > DefaultSmem)
    D.SetAttribute(Function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, DynamicSmem);
  int Blocks = 0;
  CUresult Result = D.MaxActiveBlocks(&Blocks, Function, Block, static_cast<size_t>(DynamicSmem));
  if (!succeeded(D, Result, std::string(Name) + ": occupancy"))
    return false;
  std::printf("%s\t%d\t%d\t%d", Name, Block, DynamicSmem, Blocks);
  for (CUfunction_attribute Attribute : Wanted) {
    int Value = 0;
    if (!succeeded(D, D.GetAttribute(&Value, Attribute, Function), Name))
      return false;
    std::printf("\t%d", Value);
  }
  std::printf("\n");
  return true;
}

} // namespace

int main(int Argc, char **Argv) {
  if (Argc < 5 || (Argc - 2) % 3 != 0) {
    std::fprintf(stderr, "usage: OccupancyCheck CUBIN KERNEL BLOCK DYNSMEM...\n");
    return 1;
  }
  Driver D;
  CUdevice Device = 0;
  if (!openDriver(D) || !succeeded(D, D.Init(0), "cuInit") ||
      !succeeded(D, D.DeviceGet(&Device, 0), "cuDeviceGet"))
    return NoDevice;
  CUcontext Context = nullptr;
  CUmodule Module = nullptr;
  if (!succeeded(D, D.Retain(&Context, Device), "context") ||
      !succeeded(D, D.SetCurrent(Context), "context") ||
      !succeeded(D, D.ModuleLoad(&Module, Argv[1]), Argv[1]))
    return 1;
  std::printf("kernel\tblock\tdynamic_smem_bytes\tblocks_per_sm\tregs\tstatic_smem_bytes\t"
              "local_bytes\tmax_threads_per_block\n");
  for (int I = 2; I < Argc; I += 3) {
    int Block = 0, DynamicSmem = 0;
    if (!parseCount(Argv[I + 1], Block) || !parseCount(Argv[I + 2], DynamicSmem) ||
        !printKernel(D, Module, Argv[I], Block, DynamicSmem))
      return 1;
  }
  return 0;
}
