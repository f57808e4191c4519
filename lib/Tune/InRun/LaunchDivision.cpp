#include "Tune/InRun/LaunchDivision.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <iterator>

using namespace carve;

/// Two mean times of which the larger is at most so many times the smaller count as the same.
static constexpr double SameTime = 1.05;
/// The least share of a shape's time that a class has.
static constexpr double LeastDivided = 0.1;
static constexpr size_t MostDivided = 3;
/// If fewer launches than these are left, with less of the time, they are no class.
static constexpr double LeastRest = 0.05;

namespace {
/// Some launches of a shape.
struct LaunchPart {
  std::vector<uint64_t> Keys; ///< Of their arguments.
  uint64_t Launches = 0;
  uint64_t TotalNs = 0;

  double meanNs() const { return double(TotalNs) / double(std::max<uint64_t>(1, Launches)); }
};
} // namespace

/// Joins the launches of \p Traced, which are of one shape, that take the same time.
static std::vector<LaunchPart> joined(std::vector<LaunchPart> Traced) {
  llvm::stable_sort(
      Traced, [](const LaunchPart &A, const LaunchPart &B) { return A.meanNs() < B.meanNs(); });
  std::vector<LaunchPart> Joined;
  double LeastNs = 0; // The mean of the first that was joined.
  for (LaunchPart &C : Traced) {
    if (Joined.empty() || C.meanNs() > SameTime * LeastNs) {
      LeastNs = C.meanNs();
      Joined.push_back(std::move(C));
      continue;
    }
    llvm::append_range(Joined.back().Keys, C.Keys);
    Joined.back().Launches += C.Launches;
    Joined.back().TotalNs += C.TotalNs;
  }
  return Joined;
}

/// Returns the classes of \p L, those with most time first; nothing if it remains undivided.
static std::vector<LaunchPart> partsOf(const KernelLaunches &L,
                                       llvm::ArrayRef<TracedClass> Traced) {
  std::vector<LaunchPart> Repeated;
  for (const TracedClass &C : Traced)
    if (C.Shape == L.Shape && C.Launches >= 2 * uint64_t(L.Processes))
      Repeated.push_back({{C.Key}, C.Launches, C.TotalNs});
  std::vector<LaunchPart> Classes = joined(std::move(Repeated));
  llvm::erase_if(Classes, [&](const LaunchPart &C) {
    return double(C.TotalNs) < LeastDivided * double(L.TotalNs);
  });
  llvm::stable_sort(Classes,
                    [](const LaunchPart &A, const LaunchPart &B) { return A.TotalNs > B.TotalNs; });
  Classes.resize(std::min(Classes.size(), MostDivided));
  LaunchPart Rest{{0}, L.Launches, L.TotalNs};
  for (const LaunchPart &C : Classes) {
    // The records of two shapes that the probe could not tell apart say more than one has.
    if (C.Launches > Rest.Launches || C.TotalNs > Rest.TotalNs)
      return {};
    Rest.Launches -= C.Launches;
    Rest.TotalNs -= C.TotalNs;
  }
  if (double(Rest.Launches) >= LeastRest * double(L.Launches) ||
      double(Rest.TotalNs) >= LeastRest * double(L.TotalNs))
    Classes.push_back(std::move(Rest));
  auto [Least, Most] = std::minmax_element(
      Classes.begin(), Classes.end(),
      [](const LaunchPart &A, const LaunchPart &B) { return A.meanNs() < B.meanNs(); });
  if (Classes.empty() || Most->meanNs() <= SameTime * Least->meanNs())
    return {};
  return Classes;
}

/// Returns the segments of \p L; nothing if it is not divided by them. Records come from a file,
/// and may say anything.
static std::vector<TracedSegment> segmentsOf(const KernelLaunches &L,
                                             llvm::ArrayRef<TracedSegment> Traced) {
  std::vector<TracedSegment> Its;
  llvm::copy_if(Traced, std::back_inserter(Its),
                [&](const TracedSegment &S) { return S.Shape == L.Shape; });
  const double MeanNs = double(L.TotalNs) / double(std::max<uint64_t>(1, L.Launches));
  uint64_t Launches = 0;
  bool AreSound = L.Processes == 1;
  for (const TracedSegment &S : Its) {
    AreSound &= S.First == Launches && S.Launches > 0 && S.Launches <= L.Launches &&
                S.Replayed >= S.First && S.Replayed - S.First < S.Launches && S.TotalNs > 0;
    Launches += S.Launches;
  }
  const bool AreAll = AreSound && Launches == L.Launches;
  return AreAll && MeanNs >= LeastSegmentedNs && MeanNs <= MostSegmentedNs
             ? Its
             : std::vector<TracedSegment>();
}

/// Adds the segments \p Of the launches \p L to \p Divided.
static void addSegments(LaunchDivision &Divided, const KernelLaunches &L,
                        llvm::ArrayRef<TracedSegment> Of) {
  const std::string &Name = Divided.Kernel.Kernel;
  double SumNs = 0; // Of many launches, not all times were kept.
  for (const TracedSegment &S : Of)
    SumNs += double(S.TotalNs);
  for (size_t I = 0; I < Of.size(); ++I) {
    KernelLaunches &Own = Divided.Kernel.Shapes.emplace_back(L);
    Own.Shape.Class = uint32_t(I + 1);
    Own.Launches = Of[I].Launches;
    Own.TotalNs = uint64_t(double(L.TotalNs) * double(Of[I].TotalNs) / SumNs);
    const uint64_t Replayed = Of[I].Replayed - Of[I].First;
    Divided.Kernel.Typical.push_back({Name, Own.Shape, Replayed, Replayed, Of[I].ReplayedNs});
    Divided.Segments.push_back({Name, Own.Shape, Of[I].First});
  }
}

/// Whether no other launches of \p Kernel have the shape of \p L, classes apart. Launches may
/// differ in what the shape does not tell, such as being cooperative.
static bool isAlone(const TracedKernel &Kernel, const KernelLaunches &L) {
  return llvm::count_if(Kernel.Shapes, [&](const KernelLaunches &Other) {
           return Other.Shape == L.Shape.undivided();
         }) == 1;
}

LaunchDivision carve::divideLaunches(const TracedKernel &Kernel) {
  LaunchDivision Divided{Kernel, {}, {}};
  if (Kernel.Classes.empty())
    return Divided;
  Divided.Kernel.Shapes.clear();
  for (const KernelLaunches &L : Kernel.Shapes) {
    std::vector<LaunchPart> Classes;
    if (isAlone(Kernel, L))
      Classes = partsOf(L, Kernel.Classes);
    if (Classes.empty())
      Divided.Kernel.Shapes.push_back(L);
    for (size_t C = 0; C < Classes.size(); ++C) {
      KernelLaunches &Own = Divided.Kernel.Shapes.emplace_back(L);
      Own.Shape.Class = uint32_t(C + 1);
      Own.Launches = Classes[C].Launches;
      Own.TotalNs = Classes[C].TotalNs;
      for (uint64_t Key : Classes[C].Keys)
        Divided.Classes.push_back({Kernel.Kernel, Own.Shape, Key});
    }
  }
  return Divided;
}

LaunchDivision carve::divideBySegments(const TracedKernel &Kernel) {
  LaunchDivision Classes = divideLaunches(Kernel);
  if (Kernel.Segments.empty() || Classes.Kernel.Shapes.size() > MostWithSegments)
    return Classes;
  LaunchDivision Divided = Classes;
  Divided.Kernel.Shapes.clear();
  for (const KernelLaunches &L : Classes.Kernel.Shapes) {
    std::vector<TracedSegment> Segments;
    if (isAlone(Kernel, L))
      Segments = segmentsOf(L, Kernel.Segments);
    if (Segments.empty())
      Divided.Kernel.Shapes.push_back(L);
    addSegments(Divided, L, Segments);
  }
  return Divided.Kernel.Shapes.size() <= MostWithSegments ? Divided : Classes;
}
