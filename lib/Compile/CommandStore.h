/// \file
/// The store that one compile works with: the shared one, or where that cannot be written one of
/// the compile's own.
#pragma once

#include "Nvcc/CommandLine.h"
#include "Store/UnitStore.h"
#include "Support/Files.h"

#include <optional>

namespace carve {

class CommandStore {
public:
  /// \p Shared, or a temporary store with what that has decided for the units of \p C. Fails with
  /// Unsupported `no-store` where none can be made.
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
