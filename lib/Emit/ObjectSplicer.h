/// \file
/// Puts another fatbinary container into a relocatable object: appended to a copy, with the one
/// section header repointed. Every other byte stays, COMDAT groups included.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// \p Object with the content of its device section (`.nv_fatbin`, or `__nv_relfatbin` where it
/// was compiled with -rdc) replaced by \p Container. \p Expected is the container that must stand
/// there now, so that an object that is not the one compiled is never touched.
/// Fails with Unsupported `no-device-section` (for example under -flto), `foreign-object` where
/// the content is not \p Expected, and where the object is no 64-bit little-endian ELF or is cut
/// short.
llvm::Expected<std::string> spliceContainer(llvm::StringRef Object, llvm::StringRef Expected,
                                            llvm::StringRef Container);

} // namespace carve
