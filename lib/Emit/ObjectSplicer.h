/// \file
/// Puts another fatbinary container into a relocatable object: appended to a copy, with the one
/// section header repointed. Every other byte stays, COMDAT groups included.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace carve {

/// Where an object that nvcc made has its device section; in bytes from the start of the file.
struct DeviceSection {
  uint64_t ObjectBytes = 0;       ///< Of the whole file.
  uint64_t HeaderOffset = 0;      ///< Of the section's header.
  uint64_t Offset = 0, Bytes = 0; ///< Of the section's content.
};

/// \p Object with the content of its device section (`.nv_fatbin`, or `__nv_relfatbin` where it
/// was compiled with -rdc) replaced by \p Container. \p Expected is the container that must stand
/// there now, so that an object that is not the one compiled is never touched.
/// Fails with Unsupported `no-device-section` (for example under -flto), `foreign-object` where
/// the content is not \p Expected, and where the object is no 64-bit little-endian ELF or is cut
/// short.
llvm::Expected<std::string> spliceContainer(llvm::StringRef Object, llvm::StringRef Expected,
                                            llvm::StringRef Container);

/// The section of \p Object that holds \p Container. Fails as spliceContainer() does.
llvm::Expected<DeviceSection> findDeviceSection(llvm::StringRef Object, llvm::StringRef Container);

/// The object that nvcc made, from \p Object, into which another container may have been spliced
/// since. \p Original says where its section was. Whether it really is that object is the caller's
/// to check, by its digest. Fails with Unsupported `foreign-object` where \p Object is too short.
llvm::Expected<std::string> unsplicedObject(llvm::StringRef Object, const DeviceSection &Original);

} // namespace carve
