/// \file
/// Compares a kernel's demangled name with the declarations of a source, to find the definition
/// from which an entry of an image was compiled.
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
  std::vector<std::string> Arguments; ///< Template arguments; empty if there are none.
  bool IsTemplate = false;
  /// Absent if the name has no parameter list (`extern "C"`).
  std::optional<std::vector<std::string>> Parameters;
};

/// Reads a name in the form of profileName().
KernelName parseKernelName(llvm::StringRef Name);

/// Returns the definition among \p Places from which \p Name was compiled. It is found by the name,
/// the scope as far as the source shows it, the number of parameters, and their types as far as
/// they are spelled and are not typedefs. For a template it is the template, or the specialisation
/// with the same arguments. Returns null if no definition fits or if several fit equally well;
/// \p Ambiguous is true in the latter case.
const KernelPlace *findDefinition(const KernelName &Name, llvm::ArrayRef<KernelPlace> Places,
                                  bool &Ambiguous);

/// Returns the line of the definition of \p Kernel, named as in a profile, in \p Source, or 0 if it
/// is not found.
unsigned definitionLine(llvm::StringRef Source, llvm::StringRef Kernel);

/// Returns true if \p Declared may declare what \p Definition defines.
bool declaresSame(const KernelPlace &Declared, const KernelPlace &Definition);

} // namespace carve
