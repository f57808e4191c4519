/// \file
/// Defines further entries of a kernel: variants that only some launches use. A guard says which
/// launches these are, by what is known when the program launches. Profiles hold them,
/// Emit/EntryDispatch.h makes the code that chooses.
#pragma once

#include "Search/Variant.h"

#include <array>

namespace carve {

/// Which further entries kernels may have (`--carve-entries`).
enum class FurtherEntries {
  Off,
  Blocks, ///< Entries that are chosen by the dimensions of the launch.
  Values, ///< Also entries that are compiled for the values of integer arguments.
  Floats, ///< Also for the values of floating-point arguments.
};

/// Whether \p Entries may be compiled for values of arguments.
constexpr bool allowValues(FurtherEntries Entries) { return Entries >= FurtherEntries::Values; }

/// The largest block that CUDA launches, in threads.
constexpr unsigned MaxLaunchThreads = 1024;

/// The launches that a further entry is for. All that is set must hold.
struct EntryGuard {
  std::optional<unsigned> MaxThreads = {}; ///< Threads per block, at most; 1 to MaxLaunchThreads.
  std::optional<std::array<unsigned, 3>> Block = {}, Grid = {}; ///< Exactly these.
  std::vector<ArgumentValue> Arguments = {};                    ///< Exactly these, by rising place.
  /// The addresses here lead into different allocations (KnownLaunch::Apart); by rising place.
  std::vector<PointerPlace> Apart = {};

  /// Returns the most threads per block that a launch within the guard has.
  unsigned mostThreads() const;
  /// What is known of a launch within the guard.
  KnownLaunch known() const { return {Arguments, Block, Grid, Apart}; }
  auto operator<=>(const EntryGuard &) const = default;
};

/// Returns the guard for the launches of which \p Known is true.
inline EntryGuard guardFor(const KnownLaunch &Known) {
  return {
      .Block = Known.Block, .Grid = Known.Grid, .Arguments = Known.Values, .Apart = Known.Apart};
}

/// In how much of a run a guard held.
struct GuardHold {
  uint64_t Launches = 0; ///< Launches of the kernel in that run.
  uint64_t Held = 0;     ///< Those at which it held.
  double Share = 0;      ///< Their part of the kernel's GPU time, 0 to 1.
  /// If true, Held and Share are upper bounds: the record of the run does not tell at how many
  /// launches an argument had the guard's value, or which launches a graph made.
  bool AtMost = false;

  bool operator==(const GuardHold &) const = default;
};

/// Returns it as people read it: `held at 40 of 50 launches, 80 % of its GPU time`.
std::string holdText(const GuardHold &Hold);

/// Returns whether a guard that held as \p Tuned says when its entry was tuned holds for less than
/// half of that share of the time in another run, \p Now.
bool heldMuchLess(const GuardHold &Tuned, const GuardHold &Now);

/// Returns the sentence that warns of that, about the entry for launches with \p When, or an empty
/// text if there is no need to warn.
std::string holdWarning(llvm::StringRef When, const std::optional<GuardHold> &Tuned,
                        const GuardHold &Now);

/// A further entry that objects have, and in how much of a run its guard held.
struct EntryHold {
  std::string When;               ///< Its guard as guardText() gives it.
  std::string Variant;            ///< Its name, such as `r40`.
  std::optional<GuardHold> Tuned; ///< In the run that it was tuned with; absent for a pin.
  GuardHold Now;                  ///< In the run that is looked at.

  bool operator==(const EntryHold &) const = default;
};

/// A further entry: which launches take it, and what it is compiled as.
struct FurtherEntry {
  EntryGuard When = {};
  VariantSetting Variant = {};
  /// CubinKernel::CodeDigest of what was timed; empty if it is pinned by hand.
  std::string CodeDigest = {};
  /// In how much of the tuning's run its guard held; absent for a pin.
  std::optional<GuardHold> Held = {};

  /// Compares what a compile acts on. Held is evidence.
  bool operator==(const FurtherEntry &Other) const {
    return When == Other.When && Variant == Other.Variant && CodeDigest == Other.CodeDigest;
  }
};

/// A kernel has no more further entries than this.
constexpr size_t MostFurtherEntries = 3;

/// Returns the name of a kernel's further entry with the number \p Index, counted from 0, such as
/// `_Z1kPf__carve_e1`.
std::string furtherEntryName(llvm::StringRef Kernel, size_t Index);

/// Returns the guard as a condition that people read: `threads <= 256, block 16x16x1`. Guards that
/// compare other bytes have other texts: `parameter 1 = 4096` is of 4 bytes, `parameter 1 = 4096
/// (8 bytes)`, `bytes 12 to 15 of parameter 0 = 8`, and `lowest byte of parameter 0 = 0`, which for
/// an address says that it is a multiple of 256. Addresses that must be apart are `parameters 0 1
/// 3+8 point to separate allocations`, the last one at byte 8 of parameter 3.
std::string guardText(const EntryGuard &Guard);

/// Returns `16x16x1`.
std::string dimensionsText(const std::array<unsigned, 3> &Dimensions);

/// Returns the dimensions that \p Text gives in that form, each at least 1, or nothing.
std::optional<std::array<unsigned, 3>> parseDimensions(llvm::StringRef Text);

} // namespace carve
