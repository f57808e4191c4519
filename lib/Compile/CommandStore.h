/// \file
/// The store that one compile works with: the shared store, or a temporary one of its own if the
/// shared store cannot be written.
#pragma once

#include "Nvcc/CommandLine.h"
#include "Store/UnitStore.h"
#include "Support/Files.h"

#include <optional>

namespace carve {

class CommandStore {
public:
  /// Returns \p Shared, or a temporary store with the decisions of \p Shared for the units of \p C.
  /// Fails with Unsupported `no-store` if no store can be made.
  static llvm::Expected<CommandStore> open(const std::optional<UnitStore> &Shared,
                                           const CommandLine &C, llvm::StringRef WorkDir);

  UnitStore &store() { return Store; }
  const UnitStore &store() const { return Store; }
  bool isTemporary() const { return Own.has_value(); }
  void removeTemporary() { Own.reset(); }

private:
  explicit CommandStore(UnitStore Store) : Store(std::move(Store)) {}
  UnitStore Store;
  std::optional<TempDir> Own;
};

} // namespace carve
