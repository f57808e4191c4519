/// \file
/// A profile: decisions per kernel and architecture in YAML, made to be committed and reviewed.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// The setting of the knobs that a decision chose. All absent: nvcc's default.
struct VariantSetting {
  std::optional<unsigned> Cap; ///< `.maxnreg`.
  bool isDefault() const { return !Cap; }
  bool operator==(const VariantSetting &) const = default;
};

/// What a decision rests on. Times are ratios to the default's, medians over pairs.
struct Evidence {
  std::string Device, Driver;                    ///< `NVIDIA H200`, `580.159`.
  std::string Date;                              ///< ISO 8601, UTC.
  std::string Workload;                          ///< The command, as typed.
  std::vector<std::string> Shapes;               ///< `grid 512x204x1 block 32x1x1 dynamic-smem 0`.
  double Ratio = 1, RatioLow = 1, RatioHigh = 1; ///< Tuned over default, and its interval.
  unsigned Pairs = 0;
  unsigned DefaultRegs = 0, TunedRegs = 0;
  std::string CodeDigest; ///< CubinKernel::CodeDigest of the clone that was timed.
  std::string Reason;     ///< Why the default stayed; empty for a winner.
};

struct Decision {
  std::string Kernel; ///< profileName(), or the mangled name in a profile by hand.
  std::string Arch;   ///< `sm_90`; empty: any.
  VariantSetting Variant;
  /// decisionDigest() of what was timed. Absent: pinned by hand.
  std::optional<std::string> Digest;
  std::optional<Evidence> Basis;
};

struct Profile {
  /// For `--carve-scope=file`: the unit's winning -maxrregcount, nothing for per-kernel decisions.
  std::optional<unsigned> FileCap;
  std::vector<Decision> Kernels;

  /// The decision for a kernel on \p Arch: one for this architecture before one for any, one that
  /// gives the mangled name before one that gives the profile's. Nothing: null.
  const Decision *find(llvm::StringRef KernelName, llvm::StringRef Mangled,
                       llvm::StringRef Arch) const;
  /// Adds \p D, or replaces the decision of the same kernel and architecture.
  void put(Decision D);
};

/// Reads a profile. Fails naming \p Name, the line, the actual and the expected; unknown keys are
/// an error, so that a misspelled knob is not silently ignored.
llvm::Expected<Profile> parseProfile(llvm::StringRef Yaml, llvm::StringRef Name);

/// Stable text: sorted by kernel and architecture, the same bytes for the same decisions.
std::string printProfile(const Profile &P);

/// What of \p P a compile acts on, as text: the caps and what they hold for, without evidence and
/// without kernels whose default stays. Empty where it acts on nothing.
std::string choicesOf(const Profile &P);

/// What a decision holds for: the kernel's normalised PTX, the architecture, ptxas' version, its
/// options, and the version of our set of knobs.
std::string decisionDigest(llvm::StringRef KernelDigest, llvm::StringRef Arch,
                           llvm::StringRef NvccVersion, llvm::ArrayRef<std::string> PtxasOptions);

} // namespace carve
