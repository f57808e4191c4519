/// \file
/// Selects the words of a user's command that affect its device code. carve uses them for its own
/// compiles: to a cubin, to a container, or with other macros.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace carve {

struct DeviceWords {
  std::vector<std::string> Options;
  bool NamesArchs = false; ///< True if the words named architectures.
};

/// Returns \p Given without words that select another phase or write files of the user (`-c`, `-o`,
/// `-MD`, `--keep`), and if \p DropArchs is set also without the architectures. `-dc` becomes
/// `-rdc=true`.
DeviceWords deviceWords(llvm::ArrayRef<std::string> Given, bool DropArchs);

/// Returns \p Words without definitions (`-D`) of the macros \p Names.
std::vector<std::string> withoutDefinitions(llvm::ArrayRef<std::string> Words,
                                            llvm::ArrayRef<std::string> Names);

} // namespace carve
