#include "Spaces/ProgramTiming.h"

#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"

#include <random>

using namespace carve;

namespace {

/// The rounds of one timing.
class Rounds {
public:
  Rounds(std::vector<ConfigurationTimes> &Times, const TimingTask &Task, const TimingLimits &Limits,
         RunConfiguration Run, ProgressDisplay &Progress)
      : Times(Times), Task(Task), Limits(Limits), Run(Run), Progress(Progress),
        Random(Limits.Seed) {}

  llvm::Error screen();
  llvm::Error confirm();
  TimingVerdict verdict();

private:
  /// Returns true if \p Place was run and can win.
  bool usable(size_t Place) const {
    return Times[Place].Fault.empty() && !(Times[Place].Screened.empty());
  }
  using Measure = double (ConfigurationTimes::*)() const;
  std::vector<size_t> byRatio(llvm::ArrayRef<size_t> Places, Measure Ratio) const;
  std::vector<size_t> finalists() const;
  /// Runs a round of the reference and \p Places, and appends each one's ratio to its \p Into.
  llvm::Error round(std::vector<size_t> Places, std::vector<double> ConfigurationTimes::*Into);
  llvm::Error block(std::vector<size_t> Places, std::vector<double> ConfigurationTimes::*Into);
  llvm::Expected<double> runOne(size_t Place);
  void leaveOnlyTheBest(std::vector<size_t> &In, unsigned Round) const;

  std::vector<ConfigurationTimes> &Times;
  const TimingTask &Task;
  const TimingLimits &Limits;
  RunConfiguration Run;
  ProgressDisplay &Progress;
  std::mt19937_64 Random;
  TimingVerdict Verdict;
  unsigned Expected = 0;
};

/// Returns the usable ones of \p Places by rising \p Ratio, without the reference.
std::vector<size_t> Rounds::byRatio(llvm::ArrayRef<size_t> Places, Measure Ratio) const {
  std::vector<std::pair<double, size_t>> Ranked;
  for (size_t P : Places)
    if (P != Task.Reference && usable(P))
      Ranked.push_back({(Times[P].*Ratio)(), P});
  llvm::sort(Ranked);
  auto Sorted = llvm::make_second_range(Ranked);
  return {Sorted.begin(), Sorted.end()};
}

/// Runs \p Place once and notes what it found.
llvm::Expected<double> Rounds::runOne(size_t Place) {
  llvm::Expected<ConfigurationRun> Done = Run(Place);
  if (!Done)
    return Done.takeError();
  ++Verdict.Runs;
  Progress.step("timing", Verdict.Runs, std::max(Verdict.Runs, Expected));
  ConfigurationTimes &T = Times[Place];
  if (T.Costs.empty())
    T.FirstWallS = Done->WallS;
  T.WallS += Done->WallS;
  T.Costs.push_back(Done->Cost);
  T.Fault = Done->Fault;
  return Done->Cost;
}

llvm::Error Rounds::round(std::vector<size_t> Places,
                          std::vector<double> ConfigurationTimes::*Into) {
  if (Places.size() > Limits.BlockSize)
    std::shuffle(Places.begin(), Places.end(), Random);
  llvm::ArrayRef<size_t> Rest = Places;
  do {
    llvm::ArrayRef<size_t> Block = Rest.take_front(Limits.BlockSize);
    if (llvm::Error E = block(Block, Into)) {
      // A configuration with costs but without a ratio would count as measured, so its costs are
      // dropped.
      for (size_t P : llvm::concat<const size_t>(Block, llvm::ArrayRef(Task.Reference)))
        if (Times[P].Screened.empty() && Times[P].Confirmed.empty() && Times[P].Fault.empty())
          Times[P] = {};
      return E;
    }
    Rest = Rest.drop_front(Block.size());
  } while (!Rest.empty());
  return llvm::Error::success();
}

/// Runs \p Places and the reference once each, and appends the ratios.
llvm::Error Rounds::block(std::vector<size_t> Places,
                          std::vector<double> ConfigurationTimes::*Into) {
  Places.push_back(Task.Reference);
  std::shuffle(Places.begin(), Places.end(), Random);
  std::vector<double> Costs;
  double Reference = 0;
  for (size_t P : Places) {
    llvm::Expected<double> Cost = runOne(P);
    if (!Cost)
      return Cost.takeError();
    Costs.push_back(*Cost);
    if (P == Task.Reference)
      Reference = *Cost;
  }
  if (!Times[Task.Reference].Fault.empty())
    return unsupported("workload-failed",
                       "the first configuration: " + Times[Task.Reference].Fault);
  if (!(Reference > 0))
    return unsupported("workload-failed", "the first configuration has a cost of " +
                                              std::to_string(Reference) + ", expected one above 0");
  for (auto [P, Cost] : llvm::zip_equal(Places, Costs))
    if (Times[P].Fault.empty())
      (Times[P].*Into).push_back(Cost / Reference);
  return llvm::Error::success();
}

llvm::Error Rounds::screen() {
  std::vector<size_t> In;
  for (size_t P : Task.Candidates)
    if (P != Task.Reference && !Times[P].measured())
      In.push_back(P);
  // The reference runs in every round anyway.
  Verdict.Timed = In.size() + (!In.empty() && !Times[Task.Reference].measured());
  Expected = size_t(Limits.ScreeningRounds) * 2 + In.size() + In.size() / Limits.BlockSize +
             std::min(In.size(), Limits.StayMost.front() + Limits.StayMost.back());
  for (unsigned R = 0; R < Limits.ScreeningRounds && !In.empty(); ++R) {
    if (llvm::Error E = round(In, &ConfigurationTimes::Screened))
      return E;
    leaveOnlyTheBest(In, R);
  }
  return llvm::Error::success();
}

/// Removes from \p In what does not take part in the next round.
void Rounds::leaveOnlyTheBest(std::vector<size_t> &In, unsigned Round) const {
  auto Of = [&](const auto &Values) { return Values[std::min<size_t>(Round, Values.size() - 1)]; };
  // The reference itself may be the best.
  double Best = 1;
  for (size_t P : Task.Candidates)
    if (usable(P))
      Best = std::min(Best, Times[P].ratio());
  In = byRatio(In, &ConfigurationTimes::ratio);
  llvm::erase_if(In, [&](size_t P) { return Times[P].ratio() > Best * Of(Limits.StayWithin); });
  if (In.size() > Of(Limits.StayMost))
    In.resize(Of(Limits.StayMost));
}

/// Ranks by the screening alone. The best of the screening tend to look worse in their confirmation
/// than others that were not confirmed. If confirmed ratios counted here, those others would
/// replace them each time that the search is repeated.
std::vector<size_t> Rounds::finalists() const {
  std::vector<size_t> Best = byRatio(Task.Candidates, &ConfigurationTimes::screenedRatio);
  if (Best.size() > Limits.Finalists)
    Best.resize(Limits.Finalists);
  std::vector<size_t> Favoured = byRatio(Task.Favoured, &ConfigurationTimes::screenedRatio);
  if (!Favoured.empty() && !llvm::is_contained(Best, Favoured.front()))
    Best.push_back(Favoured.front());
  // A configuration that is clearly slower than the reference needs no confirmation.
  llvm::erase_if(Best, [&](size_t P) {
    return Times[P].screenedRatio() > Limits.StayWithin.back() && P != Best.front();
  });
  return Best;
}

/// Confirms the finalists. Earlier confirmations of the same finalists count.
llvm::Error Rounds::confirm() {
  auto Confirmed = [&](size_t P) { return Times[P].Confirmed.size() >= Limits.ConfirmationRounds; };
  // If a finalist fails now, another one takes its place.
  for (std::vector<size_t> Last = finalists(); !llvm::all_of(Last, Confirmed); Last = finalists()) {
    for (size_t P : Last)
      Times[P].Confirmed.clear();
    Expected = Verdict.Runs + Limits.ConfirmationRounds * (Last.size() + 1);
    for (unsigned R = 0; R < Limits.ConfirmationRounds; ++R) {
      if (llvm::Error E = round(Last, &ConfigurationTimes::Confirmed))
        return E;
      llvm::erase_if(Last, [&](size_t P) { return !Times[P].Fault.empty(); });
    }
  }
  return llvm::Error::success();
}

TimingVerdict Rounds::verdict() {
  Verdict.Winner = Task.Reference;
  double Least = Limits.WinningRatio;
  for (size_t P : byRatio(Task.Candidates, &ConfigurationTimes::ratio)) {
    if (Times[P].Confirmed.size() < Limits.ConfirmationRounds)
      continue;
    RatioInterval Ratio = ratioInterval(Times[P].Confirmed);
    if (Ratio.Median > Least || Ratio.High >= 1 - Limits.LeastMargin)
      continue;
    Least = Ratio.Median;
    Verdict.Winner = P;
    Verdict.Ratio = Ratio;
  }
  return Verdict;
}

} // namespace

llvm::Expected<TimingVerdict> carve::timeConfigurations(std::vector<ConfigurationTimes> &Times,
                                                        const TimingTask &Task,
                                                        const TimingLimits &Limits,
                                                        RunConfiguration Run,
                                                        ProgressDisplay &Progress) {
  Rounds R(Times, Task, Limits, Run, Progress);
  if (llvm::Error E = R.screen())
    return E;
  if (llvm::Error E = R.confirm())
    return E;
  return R.verdict();
}
