/// \file
/// Computes the digest of a kernel's machine code. It is the same for a kernel and for a clone of
/// it, no matter where in the image they are and what else the image holds.
#pragma once

#include "Cubin/CubinElf.h"

#include "llvm/ADT/StringMap.h"

namespace carve {

/// Computes digests of the functions of one image.
class CodeDigester {
public:
  /// \p Elf must outlive the digester.
  explicit CodeDigester(const CubinElf &Elf);

  /// Returns the digest of \p Kernel. It covers the kernel's code; the constants that belong to the
  /// code (`.nv.constant2` and others, but not bank 0, which the launch fills); the relocations of
  /// both; and the functions that it refers to, if they have sections of their own (ptxas -c).
  /// Fails if a relocation refers to a symbol that the image does not have.
  llvm::Expected<std::string> digest(llvm::StringRef Kernel) const;

private:
  struct Visit;
  llvm::Error addFunction(llvm::StringRef Function, Visit &V) const;
  llvm::Error addRelocations(const CubinSection &Relocations, llvm::StringRef Function,
                             Visit &V) const;
  /// Describes how the code of \p Function refers to \p Symbol, in words that are the same for a
  /// clone.
  std::string reference(const CubinSymbol &Symbol, llvm::StringRef Function) const;

  const CubinElf &Elf;
  llvm::StringMap<std::vector<const CubinSection *>> ByFunction;
};

} // namespace carve
