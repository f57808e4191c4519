/// \file
/// The real nvcc, its tools and its version.
#pragma once

#include "Support/CommandRunner.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace carve {

struct Toolchain {
  std::string Nvcc;   ///< Real absolute path; nvcc crashes when called by another name.
  std::string BinDir; ///< Holds ptxas, fatbinary, nvlink.
  std::string tool(llvm::StringRef Name) const { return BinDir + "/" + Name.str(); }
};

/// Reads one environment variable.
using GetEnv = llvm::function_ref<std::optional<std::string>(llvm::StringRef)>;

/// Real paths, colon-separated, of the drivers that a command came through already.
inline constexpr char CallersVariable[] = "CARVE_CALLERS";

/// Finds nvcc: `CARVE_NVCC`, then PATH without \p OwnPath (the real path of the running program,
/// which may itself be called nvcc), what `CARVE_CALLERS` lists and links to other programs
/// (ccache), then `CUDA_PATH`, `CUDA_HOME`, /usr/local/cuda. Fails naming the places looked at, or
/// with `CARVE_NVCC`'s value where that is no program.
llvm::Expected<Toolchain> findToolchain(GetEnv Env, llvm::StringRef OwnPath);

/// The value of CARVE_CALLERS for what the program at \p OwnPath starts: what it is in \p Env, and
/// \p OwnPath. The nvcc of \p T is added where it is a script, as that may call us again.
std::string callersBehind(GetEnv Env, llvm::StringRef OwnPath, const Toolchain &T);

/// The release and build of nvcc, e.g. `13.0.88`, read from `--version`.
llvm::Expected<std::string> nvccVersion(const Toolchain &T, CommandRunner &Runner);

} // namespace carve
