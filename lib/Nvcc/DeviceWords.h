/// \file
/// The words of a user's command that bear on its device code, for compiles of our own: to a cubin,
/// to a container, with other macros.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace carve {

struct DeviceWords {
  std::vector<std::string> Options;
  bool NamesArchs = false; ///< Architectures stood among the words.
};

/// \p Given without what selects another phase or writes files of the user's (`-c`, `-o`, `-MD`,
/// `--keep`), with \p DropArchs also without the architectures. `-dc` becomes `-rdc=true`.
DeviceWords deviceWords(llvm::ArrayRef<std::string> Given, bool DropArchs);

/// \p Words without definitions (`-D`) of macros called \p Names.
std::vector<std::string> withoutDefinitions(llvm::ArrayRef<std::string> Words,
                                            llvm::ArrayRef<std::string> Names);

} // namespace carve
