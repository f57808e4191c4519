/// \file
/// The PTX of a unit as cicc makes it with another setting. It is taken from the store if it was
/// made before, otherwise it is made from the preprocessed text that the unit's record keeps.
/// Tuning and emission both call this, so that both assemble the same text.
#pragma once

#include "Nvcc/FrontEndSetting.h"
#include "Nvcc/Toolchain.h"
#include "Store/UnitStore.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// Returns what is known about how the PTX \p PtxDigest of \p U was made, or null if nothing is
/// known.
const UnitFrontEnd *frontEndOf(const Unit &U, llvm::StringRef PtxDigest);

/// Returns the PTX text that cicc makes with \p Setting, given that it made the PTX \p PtxDigest of
/// \p U as the command says. \p Store keeps the result; if it cannot be written, that is only
/// logged. Fails with Unsupported:
///   `no-front-end`        it is not known how the PTX was made (the dryrun has an unknown
///                         shape), or there is no cicc
///   `other-front-end`     the installed cicc belongs to another release
///   `above-register-cap`  the cap is above the user's own cap
///   `front-end-cap`       the cap is not in 1..255
///   `front-end-option`    this cicc fails with the setting's knob
///   `front-end-text`      this cicc fails with the text that says what is known
///   `unknown-text`        what is known of a kernel cannot be written into its text
/// It also fails if cicc fails or the preprocessed text is not in the store. Several threads may
/// call it at once.
llvm::Expected<std::string> flavourPtx(const Unit &U, llvm::StringRef PtxDigest,
                                       const FrontEndSetting &Setting, UnitStore &Store,
                                       const Toolchain &T, CommandRunner &Runner);

} // namespace carve
