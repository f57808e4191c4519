#include "Probe/Trace/LaunchTimes.h"

#include "Protocol/RecordWriter.h"

#include <algorithm>
#include <numeric>

using namespace carve;
using namespace carve::probe;

void LaunchSeries::add(uint64_t Ns) {
  if (Launches++ % Step != 0)
    return;
  Kept.push_back(Ns);
  if (Kept.size() < MostKept)
    return;
  for (size_t I = 0; 2 * I < Kept.size(); ++I)
    Kept[I] = Kept[2 * I];
  Kept.resize(Kept.size() / 2);
  Step *= 2;
}

/// Returns the time of the launch in which half of the time is reached, from the shortest on.
static uint64_t middleOfTime(std::vector<uint64_t> Times) {
  std::sort(Times.begin(), Times.end());
  uint64_t Total = std::accumulate(Times.begin(), Times.end(), uint64_t(0)), Before = 0;
  for (uint64_t Ns : Times) {
    Before += Ns;
    if (2 * Before >= Total)
      return Ns;
  }
  return 0;
}

std::optional<LaunchSeries::Typical> LaunchSeries::typical() const {
  if (Kept.size() < 2)
    return std::nullopt;
  const double Middle = double(middleOfTime(Kept));
  auto IsAlike = [&](uint64_t Ns) {
    return double(Ns) <= Alike * Middle && Middle <= Alike * double(Ns);
  };
  if (IsAlike(Kept.front()) && IsAlike(Kept[Launches / 2 / Step]))
    return std::nullopt;
  std::vector<size_t> Found;
  for (size_t I = 0; I < Kept.size(); ++I)
    if (IsAlike(Kept[I]))
      Found.push_back(I);
  const size_t First = Found.front(), Second = Found[Found.size() / 2];
  return Typical{First * Step, Second * Step, (Kept[First] + Kept[Second]) / 2};
}

void LaunchTimes::ended(std::string_view Kernel, const LaunchShape &Shape, uint64_t Ns,
                        bool InGraph) {
  std::lock_guard<std::mutex> Guard(Lock);
  std::map<LaunchShape, Timed> &Shapes = entryOf(Kernels, Kernel).second;
  auto It = Shapes.find(Shape);
  if (It == Shapes.end() && Shapes.size() < MostShapes)
    It = Shapes.try_emplace(Shape).first;
  if (It == Shapes.end())
    return;
  It->second.Series.add(Ns);
  It->second.InGraph |= InGraph;
}

std::string LaunchTimes::lines() const {
  std::lock_guard<std::mutex> Guard(Lock);
  std::string Lines;
  for (const auto &[Name, Shapes] : Kernels)
    for (const auto &[Shape, Its] : Shapes)
      if (auto T = Its.InGraph ? std::nullopt : Its.Series.typical())
        Lines += recordLine(TypicalLaunches{Name, Shape, T->First, T->Second, T->MeanNs});
  return Lines;
}
