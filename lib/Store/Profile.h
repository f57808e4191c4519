/// \file
/// A profile: decisions per kernel and architecture in YAML, made to be committed and reviewed.
#pragma once

#include "Search/Variant.h"
#include "Store/KernelSpelling.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// What a decision rests on. Times are ratios to the default's, medians over pairs.
struct Evidence {
  std::string Device, Driver;                    ///< `NVIDIA H200`, `580.159`.
  std::string Toolkit;                           ///< nvcc's version, `13.0.88`.
  std::vector<std::string> Options;              ///< ptxas' options.
  std::string Source;                            ///< Of the unit, below its project's root.
  std::string Date;                              ///< ISO 8601, UTC.
  std::string Workload;                          ///< The command, as typed.
  std::vector<std::string> Shapes;               ///< `grid 512x204x1 block 32x1x1 dynamic-smem 0`.
  double Ratio = 1, RatioLow = 1, RatioHigh = 1; ///< Tuned over default, and its interval.
  unsigned Pairs = 0;
  unsigned DefaultRegs = 0, TunedRegs = 0;
  std::optional<unsigned> DefaultSpillBytes, TunedSpillBytes; ///< Absent where not known.
  /// Of the launch shape that takes most time, 0 to 1; absent in profiles of before.
  std::optional<double> DefaultOccupancy, TunedOccupancy;
  /// GPU time of a launch of the default in the traced run; absent in profiles of before.
  std::optional<double> LaunchNs;
  /// Of a variant that spills to shared memory: the bound of its block that it was timed with,
  /// where the source gives none. 0: the one that smemSpillingMaxThreads() says.
  unsigned SmemSpillingThreads = 0;
  /// Of a timing run, where there was one (TuningReport.h, InRunFinding): how the kernel was timed
  /// and why so, how its output was compared, and the ratio in the rounds held out.
  std::string Mode, ModeReason, Verified;
  unsigned Rounds = 0;
  double InRunRatio = 1, InRunRatioLow = 1, InRunRatioHigh = 1;
  std::string CodeDigest; ///< CubinKernel::CodeDigest of the clone that was timed.
  std::string Reason;     ///< Why the default stayed; empty for a winner.
};

struct Decision {
  /// profileName(). Of a pin by hand also another spelling of it, the mangled name or a pattern.
  std::string Kernel;
  std::string Arch; ///< `sm_90`; empty: any.
  VariantSetting Variant;
  /// decisionDigest() of what was timed. Absent: pinned by hand.
  std::optional<std::string> Digest;
  std::optional<Evidence> Basis;
};

/// Where the image came from whose code was timed.
enum class ImageOrigin {
  Compiled, ///< nvcc made it.
  FromPtx,  ///< The object had only PTX for the device, and ptxas made the image of that.
};

/// Of one kernel and architecture there may be several entries: one for each digest, so that
/// decisions for two toolkits stand side by side, and one pinned by hand.
struct Profile {
  std::string Name; ///< What messages call it, the file's path; not written.
  /// For `--carve-scope=file`: the unit's winning -maxrregcount, nothing for per-kernel decisions.
  std::optional<unsigned> FileCap;
  std::vector<Decision> Kernels;

  /// The entries that speak of a kernel on \p Arch, the first to be asked first: those with a
  /// digest before those pinned by hand, of these names before patterns, of these the ones for this
  /// architecture before those for any, of these mangled names before others.
  std::vector<const Decision *> candidates(llvm::StringRef KernelName, llvm::StringRef Mangled,
                                           llvm::StringRef Arch) const;
  /// Adds \p D, or replaces the entry of the same kernel, architecture and digest.
  void put(Decision D);
  /// Takes over the kernels of \p Tuned, what one tuning found. An entry that decided the same
  /// stays with its evidence, so that a tuning that changes nothing changes no text. Entries of
  /// other code of the same kernel go, where source, toolkit and options are the same: that code
  /// is no more. FileCap stays.
  void adopt(const Profile &Tuned);
};

/// Stable text: sorted by kernel, architecture, pins first, toolkit and digest; the same bytes for
/// the same decisions.
std::string printProfile(const Profile &P);

/// What of \p P a compile acts on, as text: the settings and what they hold for, without evidence
/// and without kernels whose default stays. Empty where it acts on nothing.
std::string choicesOf(const Profile &P);

/// How \p D names \p Kernel: a pin in any spelling (matchPin()), another entry by the exact name.
NameMatch matchOf(const Decision &D, const KernelIdentity &Kernel);

/// The entries of \p P, and its FileCap, that concern one of \p Kernels.
Profile concerning(const Profile &P, llvm::ArrayRef<KernelIdentity> Kernels);

/// A setting as people read it, e.g. `cap 40, frontend-cap 32`; `default` where nothing is set.
std::string settingText(const VariantSetting &V);

/// One entry as printProfile() writes it.
std::string printDecision(const Decision &D);

/// What a decision holds for: the kernel's normalised PTX, the architecture, ptxas' version, its
/// options, where the image came from, and the version of our set of knobs.
std::string decisionDigest(llvm::StringRef KernelDigest, llvm::StringRef Arch,
                           llvm::StringRef NvccVersion, llvm::ArrayRef<std::string> PtxasOptions,
                           ImageOrigin Origin = ImageOrigin::Compiled);

} // namespace carve
