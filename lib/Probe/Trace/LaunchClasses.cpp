#include "Probe/Trace/LaunchClasses.h"

#include "Protocol/RecordWriter.h"
#include "Protocol/TraceRecords.h"

#include <algorithm>

using namespace carve;
using namespace carve::probe;

/// The oldest are dropped if there are more. They get no record any more.
static constexpr size_t MostRuns = 1 << 16;

/// Returns \p Shape without the cluster. If the kernel's code demands one, the launch does not name
/// it, and the record does.
static LaunchShape placeOf(LaunchShape Shape) {
  Shape.Cluster = {1, 1, 1};
  return Shape;
}

void LaunchClasses::launched(std::string_view Kernel, const LaunchShape &Shape, uint64_t Key,
                             uint64_t Correlation, bool ByNode) {
  std::lock_guard<std::mutex> Guard(Lock);
  auto &Known = entryOf(Kernels, Kernel).second;
  std::map<LaunchShape, Launched> &Shapes = Known.Shapes;
  const LaunchShape Place = placeOf(Shape);
  auto It = Shapes.find(Place);
  if (It == Shapes.end() && !Known.Unknown && Shapes.size() < MostShapes)
    It = Shapes.try_emplace(Place).first;
  if (It == Shapes.end() || It->second.TooMany)
    return;
  std::deque<Waiting> &Runs = It->second.Runs;
  if (Runs.empty() || Runs.back().Key != Key || Runs.back().ByNode != ByNode) {
    Runs.push_back({Key, ByNode, Runs.empty() ? 0 : Runs.back().LastId, 0});
    if (Runs.size() > MostRuns)
      Runs.pop_front();
  }
  // Another thread's call with a higher id may have come first.
  Runs.back().LastId = std::max(Runs.back().LastId, Correlation);
  ++Runs.back().Count;
}

void LaunchClasses::recorded(std::string_view Kernel, const LaunchShape &Shape,
                             uint64_t Correlation, uint64_t Ns) {
  std::lock_guard<std::mutex> Guard(Lock);
  auto Known = Kernels.find(Kernel);
  if (Known == Kernels.end())
    return;
  auto Found = Known->second.Shapes.find(placeOf(Shape));
  if (Found == Known->second.Shapes.end() || Found->second.TooMany)
    return;
  Launched &Its = Found->second;
  auto Run = std::lower_bound(Its.Runs.begin(), Its.Runs.end(), Correlation,
                              [](const Waiting &W, uint64_t Id) { return W.LastId < Id; });
  if (Run == Its.Runs.end())
    return;
  Its.Shape = Shape;
  Sum &Of = Its.Classes[Run->Key];
  ++Of.Launches;
  Of.TotalNs += Ns;
  if (--Run->Count == 0)
    Its.Runs.erase(Run);
  if (Its.Classes.size() <= MostClasses)
    return;
  Its = {};
  Its.TooMany = true;
}

void LaunchClasses::giveUp(std::string_view Kernel) {
  std::lock_guard<std::mutex> Guard(Lock);
  auto &Known = entryOf(Kernels, Kernel).second;
  Known.Unknown = true;
  Known.Shapes.clear();
}

std::string LaunchClasses::lines() {
  std::lock_guard<std::mutex> Guard(Lock);
  std::string Lines;
  for (const auto &[Name, Its] : Kernels)
    for (const auto &[Place, Of] : Its.Shapes)
      for (const auto &[Key, S] : Of.Classes)
        if (Of.Classes.size() >= 2)
          Lines += recordLine(TracedClass{Name, Of.Shape, Key, S.Launches, S.TotalNs});
  return Lines;
}
