/// \file
/// Finds the real nvcc, its tools and its version. The driver calls it first, before it runs any
/// tool.
#pragma once

#include "Support/CommandRunner.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// An nvcc and the places of its tools.
struct Toolchain {
  /// The absolute path at which nvcc was found, with links unresolved. nvcc finds its profile,
  /// headers and libraries beside the name by which it is called, and writes that name into its
  /// output.
  std::string Nvcc;
  /// The directory of ptxas, fatbinary and nvlink, nvcc's `_HERE_`. It is the folder of Nvcc,
  /// unless that is a wrapper.
  std::string BinDir;
  /// The directories in which the shell that nvcc starts looks for its tools, in order; empty means
  /// BinDir.
  std::vector<std::string> ToolDirs = {};
  /// A digest of a dryrun, which shows what a wrapper makes nvcc do; empty for nvcc itself.
  std::string Wrapped = {};

  /// Returns the path of ptxas, cicc or another tool.
  std::string tool(llvm::StringRef Name) const;
};

/// Reads one environment variable.
using GetEnv = llvm::function_ref<std::optional<std::string>(llvm::StringRef)>;

/// The variable with the real paths, separated by colons, of the drivers that a command has passed
/// through already.
inline constexpr char CallersVariable[] = "CARVE_CALLERS";

/// Finds nvcc. It looks at `CARVE_NVCC`, then PATH, then `CUDA_PATH`, `CUDA_HOME` and
/// /usr/local/cuda. In PATH it skips \p OwnPath (the real path of the running program, which may
/// itself be called nvcc), the programs that `CARVE_CALLERS` lists, and links to other programs
/// (ccache). Links are resolved only to recognise these. Fails and names the places, or the value
/// of `CARVE_NVCC` if that is not a program. The tools are assumed to be beside nvcc;
/// takeToolDirs() or locateTools() corrects that for a wrapper.
llvm::Expected<Toolchain> findToolchain(GetEnv Env, llvm::StringRef OwnPath);

/// Sets the places of the tools from \p Variables, the `NAME=value` pairs that an nvcc of \p T
/// printed in a dryrun: `_HERE_` and `PATH`. Without them nothing changes.
void takeToolDirs(Toolchain &T, llvm::ArrayRef<std::string> Variables);

/// Returns true if the file \p Path starts like a script.
bool isScript(llvm::StringRef Path);

/// Returns true if nvcc and its tools are in one folder, so that only nvcc itself decides what is
/// run.
bool hasToolsBeside(const Toolchain &T);

/// Finds the tools of \p T, once: they are beside nvcc, or a dryrun of nvcc names their places. If
/// nvcc does not name them, nothing changes, and the use of a tool fails later.
void locateTools(Toolchain &T, CommandRunner &Runner);

/// Returns the value of CARVE_CALLERS for the processes that the program at \p OwnPath starts: its
/// value in \p Env, followed by \p OwnPath. The real path of the nvcc of \p T is added if that is a
/// script, because it may call us again.
std::string callersBehind(GetEnv Env, llvm::StringRef OwnPath, const Toolchain &T);

/// Returns the release and build of nvcc, e.g. `13.0.88`, from the output of `--version`. Fails if
/// the output has another form.
llvm::Expected<std::string> nvccVersion(const Toolchain &T, CommandRunner &Runner);

} // namespace carve
