#include "Tune/InRun/LaunchDivision.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

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

LaunchDivision carve::divideLaunches(const TracedKernel &Kernel) {
  LaunchDivision Divided{Kernel, {}};
  if (Kernel.Classes.empty())
    return Divided;
  Divided.Kernel.Shapes.clear();
  for (const KernelLaunches &L : Kernel.Shapes) {
    // Launches may differ in what the shape does not tell, such as being cooperative.
    auto HasItsShape = [&](const KernelLaunches &Other) { return Other.Shape == L.Shape; };
    std::vector<LaunchPart> Classes;
    if (llvm::count_if(Kernel.Shapes, HasItsShape) == 1)
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
