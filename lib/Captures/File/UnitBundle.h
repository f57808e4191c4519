/// \file
/// Puts the store's records of a captured kernel into the capture, and from there into another
/// store. So a kernel can be tuned on a machine where it was never compiled. CapturePipeline writes
/// the records; `carve tune --from` reads them.
#pragma once

#include "Captures/File/CaptureFile.h"
#include "Store/UnitStore.h"

namespace carve {

/// Adds to \p C the units and links of \p Store that have the capture's container, and the blobs
/// that they name. What \p Store lacks is left out: such a kernel can be launched, but not tuned.
void bundleUnits(const UnitStore &Store, CaptureWriter &W, Capture &C);

/// Does the same for several containers; \p C need not be a launch.
void bundleUnits(const UnitStore &Store, llvm::ArrayRef<std::string> Containers, CaptureWriter &W,
                 Capture &C);

/// Puts into \p Store the records of \p Reader's capture that it lacks. An existing record with the
/// same key stays. Fails if that record is from another compile, whose containers do not include
/// the captured one, and if a record is damaged. What was kept for rebuilding the object is not
/// copied.
llvm::Error unbundleUnits(const CaptureReader &Reader, UnitStore &Store);

} // namespace carve
