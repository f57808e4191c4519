#include "Command/Installation.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

#include <unistd.h>

using namespace carve;
namespace path = llvm::sys::path;

InstallTree carve::findInstallTree(llvm::StringRef OwnPath) {
  llvm::SmallString<256> Root(path::parent_path(path::parent_path(OwnPath)));
  return {(Root + "/lib/libcarve_probe.so").str(), (Root + "/share/carve-nvcc/devices").str(),
          (Root + "/bin/carve-launch").str()};
}

bool carve::gpuPresent(GetEnv Env) {
  if (auto Visible = Env("CUDA_VISIBLE_DEVICES"))
    if (Visible->empty() || Visible->front() == '-' || *Visible == "NoDevFiles")
      return false;
  if (::access("/dev/dxg", F_OK) == 0)
    return true;
  for (int I = 0; I < 32; ++I)
    if (::access(("/dev/nvidia" + std::to_string(I)).c_str(), F_OK) == 0)
      return true;
  return false;
}
