/// \file
/// What an earlier tuning decided on a kernel whose PTX has not changed since. The search tries it
/// first, and `carve recheck` tries nothing else.
#pragma once

#include "Emit/DecisionChoice.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// A decision that changes the kernel's code.
struct EarlierDecision {
  Decision Decided;
  /// Why builds do not use it: it was timed with another toolkit, or with other options. Empty if
  /// they use it.
  std::string Stale;

  /// The settings that it has, each once: of the kernel itself and of its further entries, without
  /// the default.
  std::vector<VariantSetting> settings() const;
};

/// Returns the decision of \p Profiles on a kernel that builds use now, or else the newest decision
/// that was timed with the same PTX. Returns nothing if that leaves nvcc's code as
/// it is. \p KernelName is the name as in a profile, \p Mangled the mangled one.
std::optional<EarlierDecision> earlierDecision(llvm::ArrayRef<const Profile *> Profiles,
                                               llvm::StringRef KernelName, llvm::StringRef Mangled,
                                               const KernelState &Now);

} // namespace carve
