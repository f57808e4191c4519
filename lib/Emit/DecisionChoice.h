/// \file
/// Chooses the decision of the profiles that applies to a kernel as it is now, and says why the
/// others do not apply.
#pragma once

#include "Store/Profile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// The kernel as it is now, for comparison with the digest of a decision.
struct KernelState {
  std::string KernelDigest; ///< The result of PtxModule::kernelDigest().
  std::string Arch;
  std::string NvccVersion;
  llvm::ArrayRef<std::string> PtxasOptions;
  ImageOrigin Origin = ImageOrigin::Compiled;
};

/// Returns why \p D does not apply to the kernel, naming what differs as far as its evidence tells.
/// Returns nothing if \p D applies; a pin always does.
std::optional<std::string> whyStale(const Decision &D, const KernelState &Now);

/// Returns true if \p D was timed with the kernel's PTX as it is now, even if the toolkit, ptxas'
/// options or the origin of the image were others, as far as its evidence tells.
bool isOfSamePtx(const Decision &D, const KernelState &Now);

/// A decision that does not apply, with its profile.
struct IgnoredDecision {
  const Decision *Entry = nullptr;
  const Profile *From = nullptr;
  std::string Reason;
};

/// The result of chooseDecision().
struct DecisionChoice {
  const Decision *Chosen = nullptr; ///< Null if no decision applies.
  /// The decisions that were asked before it and do not apply.
  std::vector<IgnoredDecision> Ignored;
};

/// Asks the profiles in their order. Within a profile, an entry whose digest is that of the kernel
/// comes first, then the pin. \p KernelName is the name as in a profile, \p Mangled the
/// mangled one.
DecisionChoice chooseDecision(llvm::ArrayRef<const Profile *> Profiles, llvm::StringRef KernelName,
                              llvm::StringRef Mangled, const KernelState &Now);

/// Returns the decisions of \p Profiles that apply to nothing in a unit with the kernels \p Kernels
/// and images for \p Archs. If a pin names no kernel, the reason lists the kernels with the nearest
/// names.
std::vector<IgnoredDecision> foreignDecisions(llvm::ArrayRef<const Profile *> Profiles,
                                              llvm::ArrayRef<KernelIdentity> Kernels,
                                              llvm::ArrayRef<std::string> Archs);

/// Returns `; did you mean 'k(int)' or 'k(long)'?`, or an empty text if no kernel has a name
/// similar to that in \p D.
std::string nearestText(const Decision &D, llvm::ArrayRef<KernelIdentity> Kernels);

/// Returns one line for the log.
std::string ignoredText(const IgnoredDecision &I);

} // namespace carve
