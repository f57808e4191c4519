/// \file
/// Redirects the calls that the program and its libraries make to a function of another library,
/// by writing their import slots (the global offset table).
#pragma once

#include <span>
#include <string_view>

namespace carve::probe {

struct ImportPatch {
  std::string_view Symbol;
  void *Replacement;
};

/// Writes the slots of every loaded object except this one, the C library, the dynamic loader and
/// the vDSO, whose own calls must stay. Objects loaded later need another call. Returns the number
/// of slots written; a table that does not lie wholly in its object's segments is left alone, and
/// so is a slot that holds the replacement already.
unsigned patchImports(std::span<const ImportPatch> Patches);

/// How many objects have been loaded so far.
unsigned long long loadedObjects();

} // namespace carve::probe
