/// \file
/// The store's records that belong to a captured kernel: taken along in the capture, and put into
/// another store, so that a kernel can be tuned where it was never compiled.
#pragma once

#include "Captures/File/CaptureFile.h"
#include "Store/UnitStore.h"

namespace carve {

/// Adds the units and links of \p Store that load the capture's container, and the blobs that they
/// name. What is not there is left out: such a kernel can be launched and not tuned.
void bundleUnits(const UnitStore &Store, CaptureWriter &W, Capture &C);

/// Puts into \p Store what it lacks of the records in \p Reader's capture. A record that is there
/// under the same key stays: fails where it is that of another compile, which does not load the
/// captured container. What was kept of the object for rebuilding does not come along.
llvm::Error unbundleUnits(const CaptureReader &Reader, UnitStore &Store);

} // namespace carve
