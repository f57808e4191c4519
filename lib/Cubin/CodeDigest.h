/// \file
/// The digest of a kernel's machine code, equal for a kernel and for a clone of it, wherever in the
/// image they lie and whatever the image holds beside them.
#pragma once

#include "Cubin/CubinElf.h"

#include "llvm/ADT/StringMap.h"

namespace carve {

class CodeDigester {
public:
  /// \p Elf must outlive the digester.
  explicit CodeDigester(const CubinElf &Elf);

  /// Of the code of \p Kernel, of the constants that its code holds apart (`.nv.constant2` and
  /// others, less bank 0, which the launch fills), of the relocations of both, and of functions
  /// that it refers to, where they have sections of their own (ptxas -c).
  llvm::Expected<std::string> digest(llvm::StringRef Kernel) const;

private:
  struct Visit;
  llvm::Error addFunction(llvm::StringRef Function, Visit &V) const;
  llvm::Error addRelocations(const CubinSection &Relocations, llvm::StringRef Function,
                             Visit &V) const;
  /// How the code of \p Function refers to a symbol.
  std::string reference(const CubinSymbol &Symbol, llvm::StringRef Function) const;

  const CubinElf &Elf;
  llvm::StringMap<std::vector<const CubinSection *>> ByFunction;
};

} // namespace carve
