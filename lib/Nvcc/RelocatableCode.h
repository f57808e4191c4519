/// \file
/// The device code that host objects and archives carry for the device linker (-rdc=true): what a
/// link command is judged by, and what leads from a device link to the units that it was made of.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

/// One object with a section `__nv_relfatbin`.
struct RelocatableObject {
  std::string Member; ///< Its name within the archive; empty for a file of its own.
  /// Digests of the containers in the section, in order: one, or several after `ld -r`.
  std::vector<std::string> Containers;

  bool operator==(const RelocatableObject &) const = default;
};

/// The objects with such code in \p Path, a 64-bit ELF object or an archive of them (thin ones
/// too), in order. Empty where there are none, and where the file is neither. Fails where it cannot
/// be read or is damaged.
llvm::Expected<std::vector<RelocatableObject>> findRelocatableCode(llvm::StringRef Path);

/// Whether findRelocatableCode() would find something; looks at section headers only. A file that
/// cannot be read has none.
bool hasRelocatableCode(llvm::StringRef Path);

/// The bytes of the object that is number \p Index among those of findRelocatableCode().
llvm::Expected<std::string> readRelocatableObject(llvm::StringRef Path, size_t Index);

/// The archive that `-l<Name>` means to nvlink: `lib<Name>.a` in the first of \p Dirs (relative
/// ones from \p WorkDir) that has it; empty where none has.
std::string findArchive(llvm::StringRef Name, llvm::ArrayRef<std::string> Dirs,
                        llvm::StringRef WorkDir);

} // namespace carve
