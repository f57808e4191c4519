/// \file
/// Holds a kernel's demangled name against what a source declares: which definition an entry of an
/// image was compiled from.
#pragma once

#include "Export/Source/KernelSource.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// The parts of `void ns::k<4, float>(float*, int)`.
struct KernelName {
  std::vector<std::string> Scope;     ///< Without template arguments.
  std::string Base;                   ///< `k`
  std::vector<std::string> Arguments; ///< Of the template; empty: none.
  bool IsTemplate = false;
  std::optional<std::vector<std::string>>
      Parameters; ///< Absent where the name has none (`extern "C"`).
};

/// Reads a name as profileName() makes it.
KernelName parseKernelName(llvm::StringRef Name);

/// The definition among \p Places that \p Name was compiled from: by its name, its scope as far as
/// the source shows it, its number of parameters, and their types as far as these are spelled and
/// not typedefs. A template, or its specialisation with the same arguments, for one. Null where
/// none fits, and where several fit alike; \p Ambiguous then says which.
const KernelPlace *findDefinition(const KernelName &Name, llvm::ArrayRef<KernelPlace> Places,
                                  bool &Ambiguous);

/// The line of the definition of \p Kernel, named as in a profile, in \p Source; 0 where none is
/// found.
unsigned definitionLine(llvm::StringRef Source, llvm::StringRef Kernel);

/// Whether \p Declared may declare what \p Definition defines.
bool declaresSame(const KernelPlace &Declared, const KernelPlace &Definition);

} // namespace carve
