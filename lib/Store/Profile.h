/// \file
/// A profile: the decisions per kernel and architecture, as YAML that is meant to be committed and
/// reviewed. Tuning produces it, and compiles act on it.
#pragma once

#include "Search/EntryGuard.h"
#include "Store/KernelSpelling.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// The evidence for a decision. Ratios divide the time of the tuned code by that of the default;
/// they are medians over pairs of runs.
struct Evidence {
  std::string Device, Driver;       ///< `NVIDIA H200`, `580.159`.
  std::string Toolkit;              ///< nvcc's version, `13.0.88`.
  std::vector<std::string> Options; ///< ptxas' options.
  std::string Source;               ///< The source of the unit, relative to its project's root.
  std::string Date;                 ///< ISO 8601, UTC.
  std::string Workload;             ///< The command, as typed.
  std::vector<std::string> Shapes;  ///< `grid 512x204x1 block 32x1x1 dynamic-smem 0`.
  double Ratio = 1, RatioLow = 1, RatioHigh = 1; ///< Tuned over default, with its interval.
  unsigned Pairs = 0;
  unsigned DefaultRegs = 0, TunedRegs = 0;
  std::optional<unsigned> DefaultSpillBytes, TunedSpillBytes; ///< Absent if not known.
  /// The occupancy in the launch shape that takes most time, 0 to 1; absent if not known.
  std::optional<double> DefaultOccupancy, TunedOccupancy;
  /// GPU time of one launch of the default in the traced run, in ns; absent if not known.
  std::optional<double> LaunchNs;
  /// For a variant that spills to shared memory: the bound on its block, in threads, that it was
  /// timed with if the source gives no bound, before it was rounded up to whole warps. 0 means the
  /// bound that smemSpillingMaxThreads() returns.
  unsigned SmemSpillingThreads = 0;
  /// The results of the timing run, if there was one (TuningReport.h, InRunFinding): how and why in
  /// this way the kernel was timed, how its output was compared, and the ratio in the rounds that
  /// were held out.
  std::string Mode, ModeReason, Verified;
  unsigned Rounds = 0;
  double InRunRatio = 1, InRunRatioLow = 1, InRunRatioHigh = 1;
  std::string CodeDigest; ///< CubinKernel::CodeDigest of the clone that was timed.
  std::string Reason;     ///< Why the default stayed; empty for a winner.
};

/// The decision for one kernel: the variant to use, what it applies to, and its evidence.
struct Decision {
  /// The result of profileName(). A pin by hand may also use another spelling of it, the mangled
  /// name or a pattern.
  std::string Kernel;
  std::string Arch; ///< `sm_90`; empty means any architecture.
  VariantSetting Variant;
  /// The decisionDigest() of what was timed. Absent means that the entry is pinned by hand.
  std::optional<std::string> Digest = {};
  std::optional<Evidence> Basis = {};
  /// Further entries, of which a launch takes the first whose guard holds; if none does, it takes
  /// Variant. At most MostFurtherEntries, with different guards.
  std::vector<FurtherEntry> Entries = {};

  /// Whether it leaves nvcc's code as it is.
  bool isDefault() const { return Variant.isDefault() && Entries.empty(); }
};

/// The origin of the image whose code was timed.
enum class ImageOrigin {
  Compiled, ///< nvcc made it.
  FromPtx,  ///< The object had only PTX for the device, and ptxas made the image from it.
};

/// One kernel and architecture may have several entries: one for each digest, so that decisions for
/// two toolkits can coexist, and one that is pinned by hand.
struct Profile {
  std::string Name; ///< The name for messages, which is the file's path. It is not written.
  /// For `--carve-scope=file`: the -maxrregcount that won for the unit. It is absent for decisions
  /// per kernel.
  std::optional<unsigned> FileCap;
  std::vector<Decision> Kernels;

  /// Returns the entries that apply to a kernel on \p Arch, in the order in which they are tried.
  /// Entries with a digest come before pins by hand; among pins, names come before patterns; then
  /// entries for this architecture come before those for any, and mangled names before other names.
  std::vector<const Decision *> candidates(llvm::StringRef KernelName, llvm::StringRef Mangled,
                                           llvm::StringRef Arch) const;
  /// Adds \p D, or replaces the entry with the same kernel, architecture and digest.
  void put(Decision D);
  /// Takes over the kernels of \p Tuned, which one tuning found. An entry that already decided the
  /// same stays with its evidence, so that a tuning that changes nothing does not change the text.
  /// Entries for older code of the same kernel are removed if source, toolkit and options are the
  /// same, because that code no longer exists. FileCap stays.
  void adopt(const Profile &Tuned);
};

/// Returns the profile as YAML. The same decisions give the same bytes: entries are sorted by
/// kernel, architecture, pins first, toolkit and digest.
std::string printProfile(const Profile &P);

/// Returns the part of \p P on which a compile acts, as text: the settings and what they apply to,
/// without evidence and without kernels whose default stays. Returns an empty text if a compile
/// acts on nothing.
std::string choicesOf(const Profile &P);

/// Returns how \p D names \p Kernel. A pin may use any spelling (matchPin()); other entries must
/// have the exact name.
NameMatch matchOf(const Decision &D, const KernelIdentity &Kernel);

/// Returns the entries of \p P that concern one of \p Kernels, and its FileCap.
Profile concerning(const Profile &P, llvm::ArrayRef<KernelIdentity> Kernels);

/// Returns a setting as people read it, e.g. `cap 40, frontend-cap 32`, or `default` if nothing is
/// set.
std::string settingText(const VariantSetting &V);

/// Returns what \p D decides: the setting, and each further entry with its guard, e.g. `default;
/// cap 96 when threads <= 256`.
std::string decisionText(const Decision &D);

/// Returns one entry as printProfile() writes it.
std::string printDecision(const Decision &D);

/// Returns a digest of everything that a decision depends on: the kernel's normalised PTX, the
/// architecture, the version of ptxas, its options, the origin of the image, and the version of our
/// set of knobs.
std::string decisionDigest(llvm::StringRef KernelDigest, llvm::StringRef Arch,
                           llvm::StringRef NvccVersion, llvm::ArrayRef<std::string> PtxasOptions,
                           ImageOrigin Origin = ImageOrigin::Compiled);

} // namespace carve
