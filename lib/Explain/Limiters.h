/// \file
/// Decides what limits a kernel: memory throughput, instruction throughput or latency, after
/// Micikevicius' analysis-driven optimization. It is a pure function from evidence to a judgement,
/// which LimitFindings.h then turns into findings. share/doc/limits.md gives the rules with their
/// sources.
#pragma once

#include "Explain/KernelEvidence.h"

#include "llvm/ADT/StringRef.h"

#include <vector>

namespace carve {

/// What can limit a kernel.
enum class Limit {
  Memory,       ///< The throughput of DRAM or of a cache.
  Instructions, ///< The issue of instructions, or one pipe.
  SharedMemory,
  LocalMemory, ///< Spills, or arrays in local memory.
  Latency, ///< No resource is near its peak: warps wait, and there are too few of them to hide it.
  Launch,  ///< The GPU waits for the next kernel.
};

/// Returns the name in reports: `memory`, `instructions`, `shared-memory`, `local-memory`,
/// `latency` or `launch`.
llvm::StringRef limitName(Limit L);

/// A resource limits the kernel from this share of its peak on. Below it, the warps wait for
/// something. Nsight Compute's speed-of-light section draws the same line.
inline constexpr double LimitingShare = 0.6;
/// From this share on, little can be gained from the resource (the same section).
inline constexpr double NearPeakShare = 0.8;
/// DRAM limits if its share is at least this part of L2's share, because everything that DRAM moves
/// goes through L2.
inline constexpr double DramOfL2Share = 0.9;
/// A derived share can be above 1 because of what the counts overlook. Above this value, the
/// resource cannot have carried the traffic, so that a cache closer to the SM did.
inline constexpr double ImpossibleShare = 1.15;
/// A kernel up to this long is probably no longer than the gap between two launches.
inline constexpr double ShortKernelNs = 10000;
/// Such a kernel is limited by launches if the GPU runs kernels in less than this share of the
/// time, and if the program's launches follow each other within CloseLaunchesNs.
inline constexpr double BusyEnoughShare = 0.75;
inline constexpr double CloseLaunchesNs = 20000;

/// The names of resources that have rules of their own.
inline constexpr llvm::StringLiteral DramResource = "DRAM bandwidth",
                                     L2Resource = "L2 cache throughput",
                                     L1Resource = "L1 cache throughput";

/// The part of one resource's peak that the kernel used.
struct ResourceShare {
  std::string Resource; ///< `DRAM bandwidth`, `instruction issue`, `the fp64 pipe`
  Limit Kind = Limit::Memory;
  double Share = 0; ///< The share of the peak; a derived one may be above 1.
  double Most = 0;  ///< The upper bound if only bounds are known; otherwise the same as Share.
  /// True if the hardware counted it, false if it is derived from counts of the code.
  bool Measured = false;
  std::string Detail = {}; ///< Tells the user what keeps the resource busy; may be empty.
};

/// The evidence behind a judgement.
enum class LimitBasis {
  Counters, ///< Hardware counters.
  Counts,   ///< Counts of the code, with the traced times.
  Timing,   ///< The traced times only.
};
/// How certain a judgement is.
enum class Certainty {
  Measured,
  Derived, ///< From counts of a run, or from loops whose trip counts the code shows.
  Guessed, ///< Trip counts were assumed, or addresses are not known.
};
llvm::StringRef basisName(LimitBasis B);    ///< `counters`, `counts`, `timing`
llvm::StringRef certaintyName(Certainty C); ///< `measured`, `derived`, `guessed`

/// The judgement on one kernel.
struct KernelLimit {
  std::optional<Limit> Kind; ///< Absent if the evidence does not tell.
  std::string Resource; ///< The resource in Shares that limits; empty for latency and launches.
  /// The share of that resource's peak; for latency the largest share of any resource, for launches
  /// the share of the time in which the GPU runs kernels.
  double Share = 0;
  LimitBasis Basis = LimitBasis::Timing;
  Certainty Sure = Certainty::Guessed;
  std::string Why;                   ///< A clause that explains the judgement to the user.
  std::vector<ResourceShare> Shares; ///< All shares, the largest first.
};

/// Decides what limits the kernel of \p E on the device \p B, in the program \p P. Hardware
/// counters decide if there are any. Otherwise counts and time decide, and modified times if counts
/// leave it open.
KernelLimit findLimit(const KernelEvidence &E, const DeviceBalance &B, const ProgramFacts &P);

/// Returns the shares that the hardware counted, the largest first. Empty if none was counted.
std::vector<ResourceShare> measuredShares(const KernelCounters &C);
/// Returns the shares that follow from counts of the code and the traced time, the largest first.
/// Empty if the counts, the time or the device's clock are missing.
std::vector<ResourceShare> derivedShares(const KernelEvidence &E, const DeviceBalance &B);

/// Returns the bytes that a kernel's warps have in flight on an SM if each warp waits for the loads
/// of one region (Ryoo et al.) and \p WarpsPerSm warps are resident. \p MostMoved counts a whole
/// sector for each access whose stride is not known.
double bytesInFlight(const KernelCounts &C, double WarpsPerSm, bool MostMoved);

/// Returns how many warps are resident on an SM: the counted active warps if there are counters,
/// otherwise what the kernel's resources and its grid allow.
double residentWarps(const KernelEvidence &E, const DeviceBalance &B);

} // namespace carve
