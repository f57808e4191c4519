/// \file
/// A device ELF image: its kernels with their resources and code, and the exchange of two
/// kernels' names, by which the probe's image runs a clone in the place of its original.
#pragma once

#include "Cubin/KernelResources.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>
#include <vector>

namespace carve {

struct CubinKernel {
  KernelResources
      Resources;          ///< Registers, shared memory, stack, barriers; spills are not in a cubin.
  std::string CodeDigest; ///< Of the bytes of `.text.<name>` and of its relocations by symbol name.
  uint64_t CodeBytes = 0;
};

struct Cubin {
  unsigned SmVersion = 0;   ///< 90 for sm_90; an `a` or `f` suffix is not in the ELF.
  bool Relocatable = false; ///< ET_REL: made by `ptxas -c` and to be linked by nvlink.
  std::vector<CubinKernel> Kernels;
};

/// Reads a cubin. Fails where \p Bytes is no CUDA ELF or is cut short.
llvm::Expected<Cubin> parseCubin(llvm::StringRef Bytes);

/// \p Bytes with the names of the two kernels of each pair exchanged, in symbols and in section
/// names, so that a program asking for the first gets the second's code, with its registers,
/// constants and shared memory. No other byte changes, except that a table of names which lacks one
/// (only one kernel of a pair has, say, a bank of constants) is repeated, grown, behind the rest.
/// Fails where a name is absent or stands in two pairs.
llvm::Expected<std::string>
exchangeKernelNames(llvm::StringRef Bytes,
                    llvm::ArrayRef<std::pair<std::string, std::string>> Pairs);

/// \p Bytes with the kernels in \p Registers, by name, taking at least so many registers of a
/// thread: nothing of their code changes, but fewer of them fit into a multiprocessor. Fails where
/// one is not there.
llvm::Expected<std::string>
withRegistersAllotted(llvm::StringRef Bytes,
                      llvm::ArrayRef<std::pair<std::string, unsigned>> Registers);

} // namespace carve
