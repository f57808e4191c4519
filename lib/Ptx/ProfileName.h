/// \file
/// Writes the names of kernels as people and profiles read them. nvcc adds a tag to names of
/// internal linkage that depends on the file's path and content. Decisions must survive changes of
/// both, so the tag is removed wherever names are compared or shown.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace carve {

/// Returns \p Name with a constant in place of each module tag, still as a valid mangled name:
/// `_ZN35_GLOBAL__N__9e00893a_7_anon_cu_coef2pkEPd` becomes `_ZN12_GLOBAL__N_12pkEPd`, and
/// `__nv_static_24__9e00893a_7_anon_cu_coef__Z2stPf` (-rdc) becomes `_Z2stPf`.
std::string withoutModuleTags(llvm::StringRef Name);

/// Whether \p Name is the name of a string or of a function's name, which nvcc numbers over the
/// file.
inline bool isNumberedOverFile(llvm::StringRef Name) {
  return Name == "$str" || Name.starts_with("$str$") || Name.starts_with("__unnamed_");
}

/// Returns a kernel's demangled name as profiles write it, without the module tags of internal
/// names: `_ZN38_GLOBAL__N__e702ccc9_7_anon_cu__Z2pk...2pkEPd` becomes
/// `(anonymous namespace)::pk(double*)`.
std::string profileName(llvm::StringRef Mangled);

} // namespace carve
