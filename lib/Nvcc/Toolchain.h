/// \file
/// The real nvcc, its tools and its version.
#pragma once

#include "Support/CommandRunner.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

struct Toolchain {
  /// The absolute path at which nvcc was found, with links as they are: nvcc takes its profile,
  /// headers and libraries from beside the name that it is called by, and writes that name into
  /// what it makes.
  std::string Nvcc;
  /// Holds ptxas, fatbinary, nvlink: nvcc's `_HERE_`. The folder of Nvcc, unless that is a wrapper.
  std::string BinDir;
  /// Where the shell that nvcc starts looks for its tools, in order; empty: in BinDir.
  std::vector<std::string> ToolDirs = {};
  /// What a wrapper has nvcc do, as a digest of a dryrun; empty for nvcc itself.
  std::string Wrapped = {};

  /// The path of ptxas, cicc, ...
  std::string tool(llvm::StringRef Name) const;
};

/// Reads one environment variable.
using GetEnv = llvm::function_ref<std::optional<std::string>(llvm::StringRef)>;

/// Real paths, colon-separated, of the drivers that a command came through already.
inline constexpr char CallersVariable[] = "CARVE_CALLERS";

/// Finds nvcc: `CARVE_NVCC`, then PATH without \p OwnPath (the real path of the running program,
/// which may itself be called nvcc), what `CARVE_CALLERS` lists and links to other programs
/// (ccache), then `CUDA_PATH`, `CUDA_HOME`, /usr/local/cuda. Links are resolved to recognise these,
/// and for nothing else. Fails naming the places looked at, or with `CARVE_NVCC`'s value where that
/// is no program. The tools are taken to be beside nvcc; takeToolDirs() or locateTools() corrects
/// that for a wrapper.
llvm::Expected<Toolchain> findToolchain(GetEnv Env, llvm::StringRef OwnPath);

/// Where the tools are according to \p Variables, the `NAME=value` that an nvcc of \p T printed in
/// a dryrun: `_HERE_` and `PATH`. Nothing changes where they do not say it.
void takeToolDirs(Toolchain &T, llvm::ArrayRef<std::string> Variables);

/// Whether the file \p Path starts as scripts do.
bool isScript(llvm::StringRef Path);

/// Whether nvcc and its tools are in one folder, so that nothing but nvcc itself decides what is
/// run.
bool hasToolsBeside(const Toolchain &T);

/// Finds the tools of \p T, once: by a dryrun of nvcc, unless they are beside it. Where nvcc does
/// not say it, nothing changes, and the use of a tool fails.
void locateTools(Toolchain &T, CommandRunner &Runner);

/// The value of CARVE_CALLERS for what the program at \p OwnPath starts: what it is in \p Env, and
/// \p OwnPath. The real path of the nvcc of \p T is added where it is a script, as that may call us
/// again.
std::string callersBehind(GetEnv Env, llvm::StringRef OwnPath, const Toolchain &T);

/// The release and build of nvcc, e.g. `13.0.88`, read from `--version`.
llvm::Expected<std::string> nvccVersion(const Toolchain &T, CommandRunner &Runner);

} // namespace carve
