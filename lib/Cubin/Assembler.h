/// \file
/// Runs ptxas on edited PTX with the options that nvcc gave it.
#pragma once

#include "Cubin/Cubin.h"
#include "Nvcc/Toolchain.h"

#include <map>
#include <string>
#include <vector>

namespace carve {

/// A cubin as bytes, and what ptxas reported of each kernel.
struct Assembled {
  std::string CubinBytes;
  std::vector<KernelResources> Kernels;
};

/// Kernels that are assembled with other options than the rest of their module.
struct ReassembledKernels {
  std::vector<std::string> Options; ///< All of them, as for assemble().
  std::vector<std::string> Kernels;
};

/// Assembles \p PtxText with \p Options (ptxas arguments without input and output; `-v` is added).
/// \p Name is the file name that ptxas sees, such as `k.ptx`; with debug options it is in the
/// output. Fails with ToolFailure, which has the message of ptxas. It may be called from several
/// threads at once.
llvm::Expected<Assembled> assemble(const Toolchain &T, CommandRunner &Runner,
                                   llvm::StringRef PtxText, llvm::ArrayRef<std::string> Options,
                                   llvm::StringRef Name = "module.ptx");

/// Returns \p Options, of ptxas, so that it compiles the entries on all cores, if they do not say
/// on how many. A module with 54 kernels takes seconds on one core. The code was the same as on one
/// core in every program so far; assembleVariants() logs it if a variant's is not.
std::vector<std::string> onAllCores(llvm::ArrayRef<std::string> Options);

/// By kernel: why the image does not have the code that was asked for.
using UnfitKernels = std::map<std::string, std::string>;

/// Does the same, and puts the kernels of \p Others into the image as ptxas makes them with their
/// options. The runs of ptxas are made at once. Kernels that do not fit are added to \p Unfit, and
/// the image has them as \p Options make them; without it, this fails as replaceKernels() does.
llvm::Expected<Assembled>
assembleMixed(const Toolchain &T, CommandRunner &Runner, llvm::StringRef PtxText,
              llvm::ArrayRef<std::string> Options, llvm::ArrayRef<ReassembledKernels> Others,
              llvm::StringRef Name = "module.ptx", UnfitKernels *Unfit = nullptr);

} // namespace carve
