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

  /// Returns the most threads per block that a launch within the guard has.
  unsigned mostThreads() const;
  /// What is known of a launch within the guard.
  KnownLaunch known() const { return {Arguments, Block, Grid}; }
  auto operator<=>(const EntryGuard &) const = default;
};

/// A further entry: which launches take it, and what it is compiled as.
struct FurtherEntry {
  EntryGuard When = {};
  VariantSetting Variant = {};
  /// CubinKernel::CodeDigest of what was timed; empty if it is pinned by hand.
  std::string CodeDigest = {};

  bool operator==(const FurtherEntry &) const = default;
};

/// A kernel has no more further entries than this.
constexpr size_t MostFurtherEntries = 3;

/// Returns the name of a kernel's further entry with the number \p Index, counted from 0, such as
/// `_Z1kPf__carve_e1`.
std::string furtherEntryName(llvm::StringRef Kernel, size_t Index);

/// Returns the guard as a condition that people read: `threads <= 256, block 16x16x1`.
std::string guardText(const EntryGuard &Guard);

/// Returns `16x16x1`.
std::string dimensionsText(const std::array<unsigned, 3> &Dimensions);

/// Returns the dimensions that \p Text gives in that form, each at least 1, or nothing.
std::optional<std::array<unsigned, 3>> parseDimensions(llvm::StringRef Text);

} // namespace carve
