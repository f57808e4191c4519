/// \file
/// Runs cicc again, with another setting, on text that was preprocessed before. The result is a
/// "flavour" of a unit's PTX (Store/FlavourPtx.h). No source is read.
#pragma once

#include "Nvcc/FrontEndSetting.h"
#include "Nvcc/FrontEndStep.h"
#include "Nvcc/Toolchain.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace carve {

/// A request to make PTX.
struct FlavourRequest {
  const FrontEndStep &Step;
  llvm::StringRef Preprocessed; ///< Content of the step's input.
  llvm::StringRef ModuleId;     ///< Content of its module id file.
  llvm::StringRef Original;     ///< The PTX that the compile made.
  /// The directory in which the compile ran. Relative names of sources in line tables start from
  /// it.
  llvm::StringRef Directory;
  /// What is different from the compile. Without a cap, the compile's own applies; the default
  /// setting gives Original again.
  FrontEndSetting Setting;
};

/// Fails with Unsupported `front-end-cap` if \p Cap is not in 1..255, and with `above-register-cap`
/// if it is larger than \p Ceiling, the user's own cap, or than the cap that the user gave cicc. No
/// cap is always allowed.
llvm::Error checkFrontEndCap(const FrontEndStep &Step, std::optional<unsigned> Ceiling,
                             std::optional<unsigned> Cap);

/// Returns the PTX text that the step makes with the setting. All of cicc's files go to a temporary
/// directory. Fails with Unsupported `no-front-end` if no cicc is found, and with `other-front-end`
/// if it does not belong to the release that made Original. If cicc fails, fails with Unsupported
/// `front-end-option` or `front-end-text` if the setting has a knob, which this cicc may not know,
/// and otherwise with ToolFailure. Fails as withAssumptions() does. Several threads may call it at
/// once.
llvm::Expected<std::string> compileFlavour(const FlavourRequest &Request, const Toolchain &T,
                                           CommandRunner &Runner);

} // namespace carve
