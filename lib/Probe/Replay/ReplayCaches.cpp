// What a run finds in L2 decides how long a short one takes, and how much of that a variant can
// gain. Before the rounds, some runs of the default show what the program's own launches find
// there.
#include "Probe/Replay/ReplayCaches.h"

#include "Probe/Replay/Replay.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace carve;
using namespace carve::probe;

/// Finds out whether the default takes as long on what it has left as on what it found. A kernel
/// may leave the same bytes and have nothing to do: a vertex that is decided stays decided. Where
/// few runs are made, putting memory back costs less than finding out.
Failure Replay::measureRepeat() {
  Repeats = Verified.idempotent() && !Target.Shape.isLong();
  if (!Repeats || !Target.Timed)
    return Failure::none();
  constexpr double Alike = 1.1, ScatterNs = 500;
  (void)Context.Clock->collect();
  if (Failure Why = Memory.restore(Verified.dirty()))
    return Why;
  for (unsigned Run = 0; Run < 2; ++Run) {
    if (Failure Why = Memory.flushL2())
      return Why;
    if (Runs.run(DefaultPlace, /*Timed=*/true) != CUDA_SUCCESS)
      return Failure("default-refused");
  }
  std::vector<double> Ns = Context.Clock->collect();
  if (Ns.size() == 2)
    Repeats = std::max(Ns[0], Ns[1]) <= Alike * std::min(Ns[0], Ns[1]) + ScatterNs;
  return Failure::none();
}

/// Finds out whether a launch that is not timed warm is timed after a flush of L2, or with what the
/// run before it and the restoring have left there: by what takes the default nearer to its time in
/// the program. A variant may depend on it even if the default does not, and few launches of a
/// program find L2 empty. So a flush has to be nearer by 1 %, and 5 % off at most: otherwise this
/// launch has more or less to do than those that were traced.
Failure Replay::measureLongCaches() {
  constexpr double NearerBy = 0.01, MostApart = 0.05;
  const double Traced = double(Target.Shape.MeanNs);
  std::array<double, 2> Apart{}; // Without and with a flush.
  for (bool Flush : {false, true}) {
    if (Failure Why = prepareRun(Flush ? FoundInL2::Nothing : FoundInL2::WhatIsLeft))
      return Why;
    if (Runs.run(DefaultPlace, /*Timed=*/true) != CUDA_SUCCESS)
      return Failure("default-refused");
    std::vector<double> Ns = Context.Clock->collect();
    if (Ns.empty())
      return Failure("clock");
    Apart[Flush] = std::abs(Ns.back() - Traced);
    if (Apart[false] <= NearerBy * Traced)
      break;
  }
  if (Apart[false] <= Apart[true] + NearerBy * Traced || Apart[true] > MostApart * Traced)
    ColdL2 = FoundInL2::WhatIsLeft;
  return Failure::none();
}

/// Times the default as the rounds do: the shorter of two times each, because single ones scatter.
Failure Replay::timeDefault(DefaultTimes &Times) {
  Times = {};
  (void)Context.Clock->collect();
  for (unsigned Run = 0; Run < 2; ++Run) {
    if (Failure Why = timeRound({DefaultPlace}))
      return Why;
    std::vector<double> Ns = Context.Clock->collect();
    if (Ns.size() != 2) {
      Times = {};
      return Failure::none();
    }
    auto Take = [&](double &Shortest, double New) {
      Shortest = Run == 0 ? New : std::min(Shortest, New);
    };
    Take(Times.ColdNs, Ns[0]);
    Take(Times.WarmNs, Ns[1]);
  }
  return Failure::none();
}

/// Makes \p InL2 what cold runs find in L2, and times the default.
Failure Replay::timeDefaultWith(FoundInL2 InL2, DefaultTimes &Times) {
  ColdL2 = InL2;
  return timeDefault(Times);
}

/// Whether what the launch's arguments lead to may be written before each cold run: all copies have
/// to be on the device, and it must not be more than fillL2() writes, which would then do as well.
bool Replay::mayWriteArgumentMemory() const {
  size_t Bytes = 0;
  for (const Span &S : ArgumentMemory)
    Bytes += S.Bytes;
  return Bytes > 0 && Bytes <= Memory.flushBytes() && Memory.spilledBytes() == 0;
}

/// Flushes L2, and writes what the arguments lead to as it was before the launch. All else that the
/// kernel changes is put back, too, even if the kernel repeats: it has to find what the launch
/// found or what it has left, and never a part of each.
Failure Replay::writeArgumentMemory() {
  std::vector<Span> Written = Verified.dirty();
  cover(Written, ArgumentMemory);
  Failure Why = Memory.flushL2();
  return Why ? Why : Memory.restore(Written);
}

/// Chooses what is in L2 before cold runs of a launch that takes longer in the program than after a
/// flush and warm (\p Flushed). The kernels before it may have filled L2 with lines that they
/// wrote, and these have to leave first. So L2 is filled if the default takes longer after that and
/// its time in the program is nearer to the cold and warm times than it was.
Failure Replay::chooseFill(const DefaultTimes &Flushed) {
  constexpr double LongerBy = 1.01;
  const double Traced = double(Target.Shape.MeanNs);
  DefaultTimes Filled;
  if (Failure Why = timeDefaultWith(FoundInL2::Written, Filled))
    return Why;
  if (Filled.ColdNs <= LongerBy * Flushed.longer() ||
      Filled.distance(Traced) >= Flushed.distance(Traced))
    ColdL2 = FoundInL2::Nothing;
  return Failure::none();
}

/// Chooses what is in L2 before cold runs of a launch that takes longer in the program than warm
/// and less than after a flush (\p Flushed). A copy or another kernel may have written its inputs:
/// then they are in L2, and yet are read more slowly than by a launch that has read them before. So
/// what the arguments lead to is written if the default's time is then nearer to its time in the
/// program than after a flush, and hardly less than that.
Failure Replay::chooseArgumentMemory(const DefaultTimes &Flushed) {
  constexpr double NearerBy = 0.01, LessBy = 0.05;
  if (!mayWriteArgumentMemory())
    return Failure::none();
  if (Failure Why = measureWriting())
    return Why;
  DefaultTimes Written;
  if (Failure Why = timeDefaultWith(FoundInL2::ArgumentMemory, Written))
    return Why;
  const double Traced = double(Target.Shape.MeanNs);
  const double Apart = std::abs(Written.ColdNs - Traced);
  if (Written.ColdNs < (1 - LessBy) * Traced ||
      Apart + NearerBy * Traced >= Flushed.ColdNs - Traced)
    ColdL2 = FoundInL2::Nothing;
  return Failure::none();
}

/// Chooses what is in L2 before cold runs of a launch that is timed cold and warm: what takes the
/// default nearer to its time in the program than a flush of L2. A launch that takes much longer
/// there has something else to do than those that were traced. If putting memory back takes so long
/// that this would take a tenth of the time for the launch, or if the clock does not tell, L2 is
/// flushed.
///
/// An earlier replay of the shape has chosen for this one, too, because the times of both are
/// counted together. Where this one's arguments lead to memory that may not be written, it is not
/// timed.
Failure Replay::measureShortCaches() {
  constexpr double OffBy = 1.02, MostOff = 1.3, MostShare = 0.1;
  if (Target.ColdL2) {
    ColdL2 = *Target.ColdL2;
    if (ColdL2 != FoundInL2::ArgumentMemory)
      return Failure::none();
    FindsTheSame = mayWriteArgumentMemory();
    return FindsTheSame ? measureWriting() : Failure::none();
  }
  if (4 * turnNs() > MostShare * Target.BudgetNs)
    return Failure::none();
  DefaultTimes Flushed;
  if (Failure Why = timeDefaultWith(FoundInL2::Nothing, Flushed))
    return Why;
  const double Traced = double(Target.Shape.MeanNs);
  if (Flushed.ColdNs <= 0)
    return Failure::none();
  if (Traced > OffBy * Flushed.longer() && Traced <= MostOff * Flushed.longer())
    return chooseFill(Flushed);
  if (Traced > Flushed.WarmNs && Flushed.ColdNs > OffBy * Traced)
    return chooseArgumentMemory(Flushed);
  return Failure::none();
}

Failure Replay::measureCaches() {
  if (!Target.Timed)
    return Failure::none();
  return Target.Shape.hasWarmTimes() ? measureShortCaches() : measureLongCaches();
}
