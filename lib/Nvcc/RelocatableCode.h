/// \file
/// Finds the device code that host objects and archives carry for the device linker (-rdc=true). It
/// decides whether a link command concerns carve, and leads from a device link to its units.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

/// One object with a section `__nv_relfatbin`.
struct RelocatableObject {
  std::string Member; ///< Its name in the archive; empty if the object is a file of its own.
  /// Digests of the containers in the section, in order: one, or several after `ld -r`.
  std::vector<std::string> Containers;

  bool operator==(const RelocatableObject &) const = default;
};

/// Returns the objects with such code in \p Path, in order. \p Path is a 64-bit ELF object or an
/// archive of them, which may be thin; other files have no such objects. Fails if the file cannot
/// be read or is damaged.
llvm::Expected<std::vector<RelocatableObject>> findRelocatableCode(llvm::StringRef Path);

/// Returns true if findRelocatableCode() would find an object. It reads only section headers. A
/// file that cannot be read has none.
bool hasRelocatableCode(llvm::StringRef Path);

/// Returns the bytes of the object with number \p Index among those of findRelocatableCode(). Fails
/// if there are fewer.
llvm::Expected<std::string> readRelocatableObject(llvm::StringRef Path, size_t Index);

/// Returns the archive that `-l<Name>` means to nvlink: `lib<Name>.a` in the first of \p Dirs that
/// has it; empty if none has it. Relative directories start from \p WorkDir.
std::string findArchive(llvm::StringRef Name, llvm::ArrayRef<std::string> Dirs,
                        llvm::StringRef WorkDir);

} // namespace carve
