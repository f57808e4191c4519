/// \file
/// Runs cicc again on text that was preprocessed before, at another register cap: the "flavours" of
/// a unit's PTX. No source is read.
#pragma once

#include "Nvcc/FrontEndStep.h"
#include "Nvcc/Toolchain.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace carve {

/// PTX to be made.
struct FlavourRequest {
  const FrontEndStep &Step;
  llvm::StringRef Preprocessed; ///< Content of the step's input.
  llvm::StringRef ModuleId;     ///< Content of its module id file.
  llvm::StringRef Original;     ///< The PTX that the compile made.
  /// Where the compile ran: relative names of sources in line tables start from it.
  llvm::StringRef Directory;
  /// `-maxreg`, in 1..255; absent: the compile's own, which gives Original again.
  std::optional<unsigned> Cap;
};

/// Fails with Unsupported `above-register-cap` where \p Cap is larger than \p Ceiling, the user's
/// own cap, or than what the user gave cicc; with `front-end-cap` where it is not in 1..255.
llvm::Error checkFrontEndCap(const FrontEndStep &Step, std::optional<unsigned> Ceiling,
                             unsigned Cap);

/// The PTX text that the step makes at the cap. All of cicc's files go to a temporary directory.
/// Fails with Unsupported `no-front-end` where no cicc is found, `other-front-end` where it is not
/// of the release that made Original, and with ToolFailure where it fails. Safe to call from
/// several threads.
llvm::Expected<std::string> compileFlavour(const FlavourRequest &Request, const Toolchain &T,
                                           CommandRunner &Runner);

} // namespace carve
