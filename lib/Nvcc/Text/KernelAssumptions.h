/// \file
/// Writes into the text of a kernel what is known of a launch, so that the front end can rely on
/// it. Only what is understood is changed.
#pragma once

#include "Nvcc/Text/KernelText.h"
#include "Nvcc/Text/KnownLaunch.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

/// What can be written into the text of a kernel.
struct AssumedLaunch {
  const KernelDefinition *Kernel = nullptr;
  KnownLaunch Launch;
  std::vector<unsigned> Floats; ///< The parameters of the values that are floating-point numbers.
  std::vector<unsigned>
      Aligned; ///< The parameters of the values that are lowest bytes of addresses.

  /// Whether nothing is known but how addresses are aligned.
  bool onlyAligned() const {
    return Launch.Values.size() == Aligned.size() && !Launch.Block && !Launch.Grid;
  }
};

/// Returns the part of \p Known that withAssumptions() would write into the kernel \p Mangled of a
/// text with the definitions \p Kernels: values of parameters without a name are left out, and so
/// are values of parts of numbers. Of an address that is a multiple of 256, as what cudaMalloc()
/// gives is, the lowest byte is left, which is 0; of a reference, nothing. Of what is neither a
/// number nor an address, such as a structure, any part is left but those of 8 bytes that may be an
/// address. Fails with Unsupported `unknown-text` if the kernel's definition is not found, if
/// several could be meant, and if nothing is left.
llvm::Expected<AssumedLaunch> assumable(llvm::ArrayRef<KernelDefinition> Kernels,
                                        llvm::StringRef Mangled, const KnownLaunch &Known);

/// Returns those of \p Parameters, numbers from 0, of the kernel \p Mangled at which withRestrict()
/// would write: they have a name, are declared as pointers, and are not restrict yet. Fails with
/// Unsupported `unknown-text` as assumable() does, if there are none, and if the body asks for
/// types.
llvm::Expected<std::vector<KernelParameter>> restrictable(llvm::ArrayRef<KernelDefinition> Kernels,
                                                          llvm::StringRef Mangled,
                                                          llvm::ArrayRef<unsigned> Parameters);

/// Returns \p Text in which the restrictable() ones of \p Parameters of the kernel \p Mangled are
/// `__restrict__` pointers. Fails as kernelDefinitions() and restrictable() do.
llvm::Expected<std::string> withRestrict(llvm::StringRef Text, llvm::StringRef Mangled,
                                         llvm::ArrayRef<unsigned> Parameters);

/// Returns \p Text with assumptions at the head of the body of the kernel \p Mangled, so that the
/// compiler may rely on \p Known, as far as it is assumable(). A floating-point parameter is set to
/// the bits of its value; only one that is `const` is assumed to be equal to it. Of an address it
/// is assumed that it is a multiple of 256, unless it is restricted. Of a structure it is assumed
/// what its bytes are, for which the names and types of its fields are not needed. All this is
/// written by bytes where the declared type is neither a number nor a pointer, since another
/// instantiation of a template, which has the same body, may have a class there. No line is added.
/// Fails as kernelDefinitions() and assumable() do.
llvm::Expected<std::string> withAssumptions(llvm::StringRef Text, llvm::StringRef Mangled,
                                            const KnownLaunch &Known);

} // namespace carve
