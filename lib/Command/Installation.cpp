#include "Command/Installation.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <unistd.h>

using namespace carve;
namespace path = llvm::sys::path;

InstallLayout carve::installedLayout() { return {CARVE_LIBRARIES, CARVE_DATA}; }

/// The file \p Name in \p Folder as seen from \p From, without `..`.
static std::string fileFrom(llvm::StringRef From, llvm::StringRef Folder, llvm::StringRef Name) {
  llvm::SmallString<256> Path(Folder);
  if (!path::is_absolute(Folder)) {
    Path = From;
    path::append(Path, Folder);
  }
  path::append(Path, Name);
  path::remove_dots(Path, /*remove_dot_dot=*/true);
  return Path.str().str();
}

/// The file in \p Installed if it exists, or else if it is not in \p Built either.
static std::string fileOf(llvm::StringRef From, llvm::StringRef Installed, llvm::StringRef Built,
                          llvm::StringRef Name) {
  std::string First = fileFrom(From, Installed, Name), Second = fileFrom(From, Built, Name);
  return !llvm::sys::fs::exists(First) && llvm::sys::fs::exists(Second) ? Second : First;
}

InstallTree carve::findInstallTree(llvm::StringRef OwnPath, const InstallLayout &Layout) {
  llvm::StringRef Programs = path::parent_path(OwnPath);
  return {fileOf(Programs, Layout.Libraries, "../lib", "libcarve_probe.so"),
          fileOf(Programs, Layout.Data, "../share", "carve-nvcc/devices"),
          (Programs + "/carve-launch").str(),
          fileOf(Programs, Layout.Data, "../share", "carve-nvcc/slurm/job.sh.in")};
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
