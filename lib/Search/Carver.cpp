// Threshold and Pareto carving (Ryoo et al., JPDC 2008, section 4), restricted to what metrics
// decide beyond doubt: to time one variant too many costs less than to lose a winner.
#include "Search/Carver.h"

#include "Search/Pareto.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <map>

using namespace carve;

/// Returns the reason if the kernel's global traffic alone makes \p C slower than the default.
/// Spills are not counted, because they mostly stay in the caches. A kernel that takes the share s
/// of the bandwidth needs at least s of its time to move its bytes at full bandwidth. With b times
/// the bytes it needs at least b * s of the default's time.
static std::optional<std::string> bandwidthReason(const KernelCounts &C,
                                                  const KernelCounts &Default, double Share) {
  double Before = Default.globalBytes();
  if (Before <= 0 || C.globalBytes() <= Before)
    return std::nullopt;
  double More = C.globalBytes() / Before;
  if (More * Share < 1)
    return std::nullopt;
  return llvm::formatv("moves {0:F2} times the bytes of the default, which takes {1:F0} % of the "
                       "memory bandwidth",
                       More, 100 * Share)
      .str();
}

/// Returns the reason if \p M spills inside a loop by more than \p Bound bytes per instruction
/// above the default, and occupancy does not rise in return.
static std::optional<std::string> spillReason(const StaticMetrics &M, const StaticMetrics &Default,
                                              double Bound) {
  const KernelCounts &C = *M.Counts, &Before = *Default.Counts;
  if (!C.DeepestLocalAccess || M.Occupancy > Default.Occupancy || C.Instructions <= 0 ||
      Before.Instructions <= 0)
    return std::nullopt;
  double Added = C.localBytes() / C.Instructions - Before.localBytes() / Before.Instructions;
  if (Added <= Bound)
    return std::nullopt;
  return llvm::formatv("spills {0:F2} bytes per instruction more than the default inside a loop, "
                       "at most {1:F2} where occupancy does not rise ({2:F0} %, default {3:F0} %)",
                       Added, Bound, 100 * M.Occupancy, 100 * Default.Occupancy)
      .str();
}

std::optional<std::string> carve::thresholdReason(const Candidate &C, const Candidate &Default,
                                                  std::optional<double> BandwidthShare,
                                                  const CarveLimits &Limits) {
  if (!C.Metrics.Counts || !Default.Metrics.Counts)
    return std::nullopt;
  if (BandwidthShare)
    if (auto Reason = bandwidthReason(*C.Metrics.Counts, *Default.Metrics.Counts, *BandwidthShare))
      return Reason;
  return spillReason(C.Metrics, Default.Metrics, Limits.SpillBytesPerInstruction);
}

/// Returns the metrics by which variants are compared; larger is better in each. The register count
/// is one of them, because with more registers the compiler can keep more loads in flight, and no
/// other metric shows that.
static std::vector<double> coordinates(const StaticMetrics &M) {
  return {double(M.RegsPerThread), M.Occupancy, M.Efficiency.value_or(0), M.Utilization.value_or(0),
          1 / (1 + M.Counts->localBytes())};
}

std::vector<CarvedVariant> carve::superfluous(llvm::ArrayRef<Candidate> Candidates, size_t Known,
                                              const CarveLimits &Limits) {
  std::vector<CarvedVariant> Cut;
  std::map<std::string, size_t> ByDigest;
  std::map<std::vector<double>, size_t> ByMetrics;
  std::vector<size_t> Counted;
  std::vector<std::vector<double>> Points;
  for (size_t I = 0; I < Candidates.size(); ++I) {
    const Candidate &C = Candidates[I];
    if (!C.CodeDigest.empty()) {
      auto [Same, New] = ByDigest.try_emplace(C.CodeDigest, I);
      if (!New && !Candidates[Same->second].Setting.mayStandFor(C.Setting))
        Same->second = I;
      else if (!New && I >= Known) {
        Cut.push_back({C.Setting, "same code as " + variantName(Candidates[Same->second].Setting),
                       /*SameCode=*/true});
        continue;
      }
    }
    if (!C.Metrics.Counts)
      continue;
    std::vector<double> Point = coordinates(C.Metrics);
    std::vector<double> All = Point;
    // No metric shows how loads use the caches.
    All.push_back(double(C.Setting.Loads));
    const KernelCounts &N = *C.Metrics.Counts;
    All.insert(All.end(), {N.Instructions, N.Regions, N.GlobalLoads, N.GlobalStores,
                           N.SharedAccesses, N.globalBytes(), double(C.Metrics.StaticSmemBytes)});
    auto [Same, New] = ByMetrics.try_emplace(std::move(All), I);
    if (!New && !Candidates[Same->second].Setting.mayStandFor(C.Setting)) {
      Same->second = I;
    } else if (!New && I >= Known) {
      Cut.push_back({C.Setting,
                     "equal in every metric to " + variantName(Candidates[Same->second].Setting),
                     /*SameCode=*/false});
      continue;
    }
    Counted.push_back(I);
    Points.push_back(std::move(Point));
  }
  std::vector<ParetoCut> Dominated;
  paretoFront(Points, Limits.ParetoMargin, &Dominated);
  for (auto [Point, By] : Dominated)
    if (Counted[Point] >= Known)
      Cut.push_back({Candidates[Counted[Point]].Setting,
                     "no better in any metric than " +
                         variantName(Candidates[Counted[By]].Setting) + ", and worse in one",
                     /*SameCode=*/false});
  return Cut;
}
