/// \file
/// Redirects calls of the program and its libraries to other functions by writing their import
/// slots (the global offset table). ExitHooks uses it to see the process end.
#pragma once

#include <span>
#include <string_view>

namespace carve::probe {

/// The function that every import of one symbol is to call instead.
struct ImportPatch {
  std::string_view Symbol;
  void *Replacement;
};

/// Writes the import slots of every loaded object except this one, the C library, the dynamic
/// loader and the vDSO, whose own calls must not be redirected. An object that is loaded later
/// needs another call. Returns the number of slots that were written. A table that does not lie
/// wholly in its object's segments is left alone, and so is a slot that already holds the
/// replacement.
unsigned patchImports(std::span<const ImportPatch> Patches);

/// Returns how many objects have been loaded since the process started.
unsigned long long loadedObjects();

} // namespace carve::probe
