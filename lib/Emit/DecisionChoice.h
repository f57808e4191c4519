/// \file
/// Which decision of the profiles counts for a kernel as it is now, and why the others do not.
#pragma once

#include "Store/Profile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// What a decision's digest is held against.
struct KernelState {
  std::string KernelDigest; ///< PtxModule::kernelDigest().
  std::string Arch;
  std::string NvccVersion;
  llvm::ArrayRef<std::string> PtxasOptions;
  ImageOrigin Origin = ImageOrigin::Compiled;
};

/// Why \p D does not hold for the kernel, with what differs as far as its evidence tells; nothing
/// where it holds, and for a pin.
std::optional<std::string> whyStale(const Decision &D, const KernelState &Now);

/// A decision that does not count, with the profile it stands in.
struct IgnoredDecision {
  const Decision *Entry = nullptr;
  const Profile *From = nullptr;
  std::string Reason;
};

struct DecisionChoice {
  const Decision *Chosen = nullptr;     ///< Null: nothing holds.
  std::vector<IgnoredDecision> Ignored; ///< That were asked before it.
};

/// Asks the profiles in their order: in each the entry whose digest holds, else the pin.
DecisionChoice chooseDecision(llvm::ArrayRef<const Profile *> Profiles, llvm::StringRef KernelName,
                              llvm::StringRef Mangled, const KernelState &Now);

/// The decisions that concern nothing of a unit whose kernels are \p Kernels and whose images are
/// for \p Archs. The reason says which kernels a pin may have meant.
std::vector<IgnoredDecision> foreignDecisions(llvm::ArrayRef<const Profile *> Profiles,
                                              llvm::ArrayRef<KernelIdentity> Kernels,
                                              llvm::ArrayRef<std::string> Archs);

/// `; did you mean 'k(int)' or 'k(long)'?`; empty where no kernel has a name like \p D's.
std::string nearestText(const Decision &D, llvm::ArrayRef<KernelIdentity> Kernels);

/// One line for the log.
std::string ignoredText(const IgnoredDecision &I);

} // namespace carve
