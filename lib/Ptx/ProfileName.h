/// \file
/// Names of kernels as people and profiles read them. nvcc marks names of internal linkage with a
/// tag of the file's path and content. Decisions must outlive both, so the tag is taken out
/// wherever names are compared or shown.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace carve {

/// \p Name with the module tags made constant, still a valid mangled name:
/// `_ZN35_GLOBAL__N__9e00893a_7_anon_cu_coef2pkEPd` becomes `_ZN12_GLOBAL__N_12pkEPd`,
/// `__nv_static_24__9e00893a_7_anon_cu_coef__Z2stPf` (-rdc) becomes `_Z2stPf`.
std::string withoutModuleTags(llvm::StringRef Name);

/// Whether \p Name is one that nvcc numbers over the file: of a string or of a function's name.
inline bool isNumberedOverFile(llvm::StringRef Name) {
  return Name == "$str" || Name.starts_with("$str$") || Name.starts_with("__unnamed_");
}

/// A kernel's demangled name as profiles write it: module tags of internal names removed, so that
/// `_ZN38_GLOBAL__N__e702ccc9_7_anon_cu__Z2pk...2pkEPd` is `(anonymous namespace)::pk(double*)`.
std::string profileName(llvm::StringRef Mangled);

} // namespace carve
