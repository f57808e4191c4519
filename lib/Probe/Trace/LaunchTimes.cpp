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

/// Returns whether two launches take the same time.
static bool areAlike(uint64_t Ns, uint64_t OtherNs) {
  return double(Ns) <= LaunchSeries::Alike * double(OtherNs) &&
         double(OtherNs) <= LaunchSeries::Alike * double(Ns);
}

std::optional<LaunchSeries::Typical> LaunchSeries::typical() const {
  if (Kept.size() < 2)
    return std::nullopt;
  const uint64_t Middle = middleOfTime(Kept);
  if (areAlike(Kept.front(), Middle) && areAlike(Kept[Launches / 2 / Step], Middle))
    return std::nullopt;
  std::vector<size_t> Found;
  for (size_t I = 0; I < Kept.size(); ++I)
    if (areAlike(Kept[I], Middle))
      Found.push_back(I);
  const size_t First = Found.front(), Second = Found[Found.size() / 2];
  return Typical{First * Step, Second * Step, (Kept[First] + Kept[Second]) / 2};
}

std::vector<LaunchSeries::Segment> LaunchSeries::segments() const {
  if (Kept.size() < LeastDivided)
    return {};
  const uint64_t Middle = middleOfTime(Kept);
  uint64_t TotalNs = 0, AlikeNs = 0;
  std::vector<uint64_t> BeforeNs; // The time of all launches before each.
  for (uint64_t Ns : Kept) {
    BeforeNs.push_back(TotalNs);
    TotalNs += Ns;
    AlikeNs += areAlike(Ns, Middle) ? Ns : 0;
  }
  if (double(AlikeNs) >= LeastAlike * double(TotalNs))
    return {};
  BeforeNs.push_back(TotalNs);
  // The first launch before which so many eighths of the time have passed.
  auto From = [&](size_t Eighths) {
    auto Reached =
        std::lower_bound(BeforeNs.begin(), BeforeNs.end(),
                         (TotalNs * Eighths + 2 * SegmentCount - 1) / (2 * SegmentCount));
    return size_t(Reached - BeforeNs.begin());
  };
  std::vector<Segment> All;
  for (size_t S = 0; S < SegmentCount; ++S) {
    const size_t Begin = From(2 * S), End = From(2 * S + 2), Half = From(2 * S + 1);
    if (Half <= Begin || Half > End)
      return {};
    const size_t Replayed = Half - 1;
    const uint64_t Last = S + 1 < SegmentCount ? End * Step : Launches;
    All.push_back({Begin * Step, Last - Begin * Step, (BeforeNs[End] - BeforeNs[Begin]) * Step,
                   Replayed * Step, Kept[Replayed]});
  }
  return All;
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
    for (const auto &[Shape, Its] : Shapes) {
      if (Its.InGraph)
        continue;
      if (auto T = Its.Series.typical())
        Lines += recordLine(TypicalLaunches{Name, Shape, T->First, T->Second, T->MeanNs});
      for (const LaunchSeries::Segment &S : Its.Series.segments())
        Lines += recordLine(
            TracedSegment{Name, Shape, S.First, S.Launches, S.TotalNs, S.Replayed, S.ReplayedNs});
    }
  return Lines;
}
