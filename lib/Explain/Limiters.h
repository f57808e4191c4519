/// \file
/// What limits a kernel: memory throughput, instruction throughput or latency, after Micikevicius'
/// analysis-driven optimization. Pure: from evidence to a judgement (LimitFindings.h says what
/// follows). share/doc/limits.md gives the rules with their sources.
#pragma once

#include "Explain/KernelEvidence.h"

#include "llvm/ADT/StringRef.h"

#include <vector>

namespace carve {

enum class Limit {
  Memory,       ///< DRAM, or a cache's throughput.
  Instructions, ///< Issue, or one pipe.
  SharedMemory,
  LocalMemory, ///< Spills, or arrays in local memory.
  Latency,     ///< Nothing is near its peak: warps wait, and there are too few of them.
  Launch,      ///< The GPU waits for the next kernel.
};

/// `memory`, `instructions`, `shared-memory` ...
llvm::StringRef limitName(Limit L);

/// From this share of its peak on a resource limits; below, all of them wait for something. Nsight
/// Compute's speed-of-light section draws the line there.
inline constexpr double LimitingShare = 0.6;
/// And from this on little is left to be had of it (the same section).
inline constexpr double NearPeakShare = 0.8;
/// DRAM limits where its share is at least this part of L2's: all that it moves passes L2.
inline constexpr double DramOfL2Share = 0.9;
/// A derived share may come out above 1, by what the counts overlook; beyond this a resource cannot
/// have carried it, and a cache before it has.
inline constexpr double ImpossibleShare = 1.15;
/// Kernels up to this are no longer than the gap between two launches is likely to be.
inline constexpr double ShortKernelNs = 10000;
/// Such a kernel is launch-bound where the GPU runs kernels in less of the time than this, and the
/// launches of the program follow each other that closely.
inline constexpr double BusyEnoughShare = 0.75;
inline constexpr double CloseLaunchesNs = 20000;

/// Names of resources that rules are about.
inline constexpr llvm::StringLiteral DramResource = "DRAM bandwidth",
                                     L2Resource = "L2 cache throughput",
                                     L1Resource = "L1 cache throughput";

/// How much of what the device could do the kernel used of one resource.
struct ResourceShare {
  std::string Resource; ///< `DRAM bandwidth`, `instruction issue`, `the fp64 pipe`
  Limit Kind = Limit::Memory;
  double Share = 0; ///< Of the peak; derived ones may be above 1.
  double Most = 0;  ///< Where only bounds are known, the upper one; else Share.
  bool Measured = false;
  std::string Detail = {}; ///< What it is busy with, for a person; may be empty.
};

/// What a judgement rests on.
enum class LimitBasis {
  Counters, ///< The hardware's.
  Counts,   ///< Of the code, with the traced times.
  Timing,   ///< The traced times alone.
};
/// How sure it is.
enum class Certainty {
  Measured,
  Derived, ///< From counts of a run, or loops whose trips are in the code.
  Guessed, ///< Trips were assumed, or addresses are not known.
};
llvm::StringRef basisName(LimitBasis B);    ///< `counters`, `counts`, `timing`
llvm::StringRef certaintyName(Certainty C); ///< `measured`, `derived`, `guessed`

struct KernelLimit {
  std::optional<Limit> Kind; ///< Absent: the evidence does not tell.
  std::string Resource;      ///< Of Shares, that limits; empty for latency and launches.
  double Share = 0;          ///< Of its peak; of latency, the largest of all.
  LimitBasis Basis = LimitBasis::Timing;
  Certainty Sure = Certainty::Guessed;
  std::string Why;                   ///< A clause for a person.
  std::vector<ResourceShare> Shares; ///< The largest first.
};

/// Judges \p E on \p B. With counters these decide; else counts and time do, and modified times
/// where counts leave it open.
KernelLimit findLimit(const KernelEvidence &E, const DeviceBalance &B, const ProgramFacts &P);

/// Shares as the hardware counted them, and as counts and time give them; the largest first. Empty
/// where there is nothing to take them from.
std::vector<ResourceShare> measuredShares(const KernelCounters &C);
std::vector<ResourceShare> derivedShares(const KernelEvidence &E, const DeviceBalance &B);

/// Bytes that a kernel's warps have under way on an SM when each waits for the loads of one region
/// (Ryoo), with \p WarpsPerSm resident. \p MostMoved: a sector for each access of unseen stride.
double bytesInFlight(const KernelCounts &C, double WarpsPerSm, bool MostMoved);

/// Warps resident on an SM, by the kernel's resources and its grid.
double residentWarps(const KernelEvidence &E, const DeviceBalance &B);

} // namespace carve
