/// \file
/// A unit's PTX as cicc makes it at another register cap: out of the store where it was made
/// before, else made from the preprocessed text that the unit's record keeps. Asked by tuning and
/// by emission, so that both assemble the same text.
#pragma once

#include "Nvcc/Toolchain.h"
#include "Store/UnitStore.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// What is known of how the PTX \p PtxDigest of \p U was made; null where it is not.
const UnitFrontEnd *frontEndOf(const Unit &U, llvm::StringRef PtxDigest);

/// The PTX text that cicc makes with `-maxreg Cap` where it made the PTX \p PtxDigest of \p U
/// without, or with the user's. \p Store remembers it; where it cannot be written that is logged
/// only. Fails with Unsupported:
///   `no-front-end`        nothing is known of how the PTX was made (a record of an older release,
///   a
///                         dryrun of unknown shape), or there is no cicc
///   `other-front-end`     the cicc that is there is of another release
///   `above-register-cap`  \p Cap is above the user's own
///   `front-end-cap`       \p Cap is not in 1..255
/// and otherwise where cicc fails or the preprocessed text is not in the store. Safe to call from
/// several threads.
llvm::Expected<std::string> flavourPtx(const Unit &U, llvm::StringRef PtxDigest, unsigned Cap,
                                       UnitStore &Store, const Toolchain &T, CommandRunner &Runner);

} // namespace carve
