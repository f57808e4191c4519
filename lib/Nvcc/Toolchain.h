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
/// which may itself be called nvcc) and what `CARVE_CALLERS` lists, then `CUDA_PATH`, `CUDA_HOME`,
/// /usr/local/cuda. Fails naming the places looked at, or with `CARVE_NVCC`'s value where that is
/// no program.
llvm::Expected<Toolchain> findToolchain(GetEnv Env, llvm::StringRef OwnPath);

/// The release and build of nvcc, e.g. `13.0.88`, read from `--version`.
llvm::Expected<std::string> nvccVersion(const Toolchain &T, CommandRunner &Runner);

} // namespace carve
