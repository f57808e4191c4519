#include "DriverLibrary.h"

#include "Support/Error.h"

#include <dlfcn.h>

using namespace carve;

llvm::Expected<DriverLibrary> DriverLibrary::load() {
  void *Handle = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!Handle)
    return malformed(llvm::Twine("no CUDA driver: ") + ::dlerror());
  DriverLibrary D;
#define CARVE_RESOLVE(Function, Name)                                                              \
  D.Function = reinterpret_cast<decltype(D.Function)>(::dlsym(Handle, Name));                      \
  if (!D.Function)                                                                                 \
    return malformed("the CUDA driver has no " Name ", expected a driver for CUDA 12 or later");
  CARVE_DRIVER_FUNCTIONS(CARVE_RESOLVE)
#undef CARVE_RESOLVE
  return D;
}

llvm::Error DriverLibrary::check(CUresult Result, const llvm::Twine &What) const {
  if (Result == CUDA_SUCCESS)
    return llvm::Error::success();
  const char *Name = nullptr;
  if (cuGetErrorName(Result, &Name) != CUDA_SUCCESS || !Name)
    Name = "unknown error";
  return malformed(What + ": " + Name);
}
