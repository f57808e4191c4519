/// \file
/// The store that one compile works with: the shared store, or a temporary one of its own if the
/// shared store cannot be written.
#pragma once

#include "Nvcc/CommandLine.h"
#include "Store/UnitStore.h"
#include "Support/Files.h"

#include <optional>

namespace carve {

/// The shared store or the temporary store of one compile. A temporary store is removed with the
/// object.
class CommandStore {
public:
  /// Returns \p Shared, or a temporary store with the decisions of \p Shared for the units of \p C.
  /// Fails with Unsupported `no-store` if no store can be made.
  static llvm::Expected<CommandStore> open(const std::optional<UnitStore> &Shared,
                                           const CommandLine &C, llvm::StringRef WorkDir);

  UnitStore &store() { return Store; }
  const UnitStore &store() const { return Store; }
  bool isTemporary() const { return Own.has_value(); }
  /// Removes the temporary store now. A process that ends by a signal or becomes nvcc runs no
  /// destructors.
  void removeTemporary() { Own.reset(); }

private:
  explicit CommandStore(UnitStore Store) : Store(std::move(Store)) {}
  UnitStore Store;
  std::optional<TempDir> Own;
};

} // namespace carve
