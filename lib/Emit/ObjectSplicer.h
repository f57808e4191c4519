/// \file
/// Puts another fatbinary container into a relocatable object. It appends the container to a copy
/// of the object and points the one section header at it. Every other byte stays, COMDAT groups
/// included. lib/Compile calls it with the container that UnitEmitter built.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace carve {

/// Where the device section of an object that nvcc made is, in bytes from the start of the file.
struct DeviceSection {
  uint64_t ObjectBytes = 0;       ///< Size of the whole file.
  uint64_t HeaderOffset = 0;      ///< Position of the section's header.
  uint64_t Offset = 0, Bytes = 0; ///< Position and size of the section's content.
};

/// Returns \p Object with the content of its device section (`.nv_fatbin`, or `__nv_relfatbin` if
/// compiled with -rdc) replaced by \p Container. \p Expected is the container that must be there
/// now, so that no object is touched but the one that was compiled.
/// Fails with Unsupported `no-device-section` if there is no such section (for example under
/// -flto), and with `foreign-object` if its content is not \p Expected. Fails also if the object is
/// not a 64-bit little-endian ELF or is cut short.
llvm::Expected<std::string> spliceContainer(llvm::StringRef Object, llvm::StringRef Expected,
                                            llvm::StringRef Container);

/// Returns the section of \p Object that holds \p Container. Fails as spliceContainer() does.
llvm::Expected<DeviceSection> findDeviceSection(llvm::StringRef Object, llvm::StringRef Container);

/// Returns the object that nvcc made, recovered from \p Object, into which another container may
/// have been spliced since. \p Original is where its device section was. The caller must check by
/// digest that the result is that object. Fails with Unsupported `foreign-object` if \p Object is
/// too short.
llvm::Expected<std::string> unsplicedObject(llvm::StringRef Object, const DeviceSection &Original);

} // namespace carve
