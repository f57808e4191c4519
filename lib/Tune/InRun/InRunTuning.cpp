#include "Tune/InRun/InRunTuning.h"

#include "Tune/InRun/LaunchDivision.h"
#include "Tune/Job/GuardHolds.h"
#include "Tune/Selection/PairedTimes.h"

#include "llvm/ADT/STLExtras.h"

#include <cstdlib>
#include <map>
#include <set>

using namespace carve;

/// The shapes of \p K whose launches all run each of \p Codes, by number.
static std::vector<std::set<size_t>> shapesOfCodes(const TracedKernel &K,
                                                   llvm::ArrayRef<GuardedCode> Codes) {
  std::vector<EntryGuard> Guards;
  for (const GuardedCode &C : Codes)
    Guards.push_back(guardFor(C.Launch));
  std::vector<std::set<size_t>> Shapes(Codes.size());
  for (size_t S = 0; S < K.Shapes.size(); ++S)
    if (std::optional<size_t> Code = entryOf(Guards, K, K.Shapes[S]))
      Shapes[*Code].insert(S);
  return Shapes;
}

/// The launch shapes of \p K, of which \p Timed were timed. \p K is divided by segments. Where a
/// shape was timed as a whole, its first segment has the times, and represents the others.
static std::vector<InRunSubject::TracedShape> tracedShapes(const TracedKernel &K,
                                                           llvm::ArrayRef<TimedShape> Timed) {
  std::vector<InRunSubject::TracedShape> Shapes;
  std::map<LaunchShape, size_t> FirstWith; // Of a shape as a whole, its first segment or class.
  for (const KernelLaunches &L : K.Shapes) {
    FirstWith.try_emplace(L.Shape, Shapes.size());
    FirstWith.try_emplace(L.Shape.undivided(), Shapes.size());
    Shapes.push_back({L.Shape, L.Launches, double(L.TotalNs)});
  }
  std::map<LaunchShape, size_t> Representatives;
  for (const TimedShape &T : Timed) {
    const size_t First = FirstWith.at(T.Shape);
    const bool AsAWhole = Shapes[First].Shape != T.Shape;
    Shapes[First].Shape = T.Shape;
    if (T.Typical)
      Shapes[First].TypicalNs = double(T.Typical->MeanNs);
    else if (AsAWhole)
      Shapes[First].TypicalNs = T.MeanNs;
    if (!T.isRepresentative() && !AsAWhole)
      continue;
    for (const LaunchShape &Other : T.StandsFor)
      Representatives[Other] = First;
    // Launches may differ in what the shape does not tell, such as being cooperative.
    Representatives[T.Shape] = First;
  }
  for (size_t S = 0; S < Shapes.size(); ++S) {
    auto Its = Representatives.find(K.Shapes[S].Shape);
    if (Its == Representatives.end())
      Its = Representatives.find(K.Shapes[S].Shape.undivided());
    if (Its != Representatives.end() && Its->second != S)
      Shapes[S].Representative = Its->second;
  }
  return Shapes;
}

/// Where a timing run has no times of one of \p Segments, because its replay was not made or the
/// program made fewer launches, the nearest segment with times represents it.
static void representMissing(InRunSubject &Subject, llvm::ArrayRef<PlannedSegment> Segments,
                             const std::set<LaunchShape> &HasTimes) {
  std::vector<InRunSubject::TracedShape> &Shapes = Subject.Shapes;
  for (InRunSubject::TracedShape &Missing : Shapes) {
    const LaunchShape &Own = Missing.Shape;
    auto IsOwn = [&](const PlannedSegment &S) { return S.Shape == Own; };
    if (HasTimes.count(Own) || llvm::none_of(Segments, IsOwn))
      continue;
    auto Distance = [&](size_t S) { return std::abs(int(Shapes[S].Shape.Class) - int(Own.Class)); };
    for (size_t S = 0; S < Shapes.size(); ++S)
      if (HasTimes.count(Shapes[S].Shape) && Shapes[S].Shape.undivided() == Own.undivided() &&
          (!Missing.Representative || Distance(S) < Distance(*Missing.Representative)))
        Missing.Representative = S;
  }
}

static InRunSubject subjectOf(const JobKernel &K, llvm::ArrayRef<JobVariant> Variants,
                              llvm::ArrayRef<TimedShape> Timed, const InRunRecord &Record) {
  InRunSubject S;
  S.Kernel = K.Traced.Kernel;
  S.Variants = namesOf(Variants);
  const LaunchDivision Divided = divideBySegments(K.Traced);
  const TracedKernel &Traced = Divided.Kernel;
  S.Shapes = tracedShapes(Traced, Timed);
  if (areSegmented(Timed))
    representMissing(S, Divided.Segments, shapesWithTimes(Record, S.Kernel));
  for (size_t V = 0; V < Variants.size(); ++V) {
    if (Variants[V].OnlyTimed)
      S.OnlyTimed.insert(V);
    if (needsComparedOutput(Variants[V]))
      S.NeedProof.insert(V);
    if (isComposed(Variants[V]))
      S.Composed.insert(V);
    if (evictsFirst(Variants[V]))
      S.EvictFirst.insert(V);
    if (isComposed(Variants[V]) || Variants[V].Setting.FrontEnd == FrontEndKnob::KnownShapes) {
      S.Partial.insert(V);
      S.ShapesOfCodes[V] = shapesOfCodes(Traced, Variants[V].Codes);
    }
  }
  return S;
}

InRunTuning carve::judgeTimingRun(const TuningJob &Job, const JobBuild &Built,
                                  std::vector<ModeChoice> Choices, TimingRunResult Run,
                                  llvm::ArrayRef<VerifiedVariant> Earlier) {
  std::vector<InRunSubject> Subjects;
  for (auto [K, Made, Choice] : llvm::zip_equal(Job.Kernels, Built.Kernels, Choices))
    Subjects.push_back(subjectOf(K, Made.Variants, Choice.Shapes, Run.Record));
  std::vector<InRunOutcome> Outcomes = selectInRun(Subjects, Run.Record, {}, Earlier);
  if (Run.Difference && !Run.Failure)
    distrustRotated(Outcomes, *Run.Difference);
  for (size_t K = 0; K < Outcomes.size(); ++K) {
    InRunOutcome &O = Outcomes[K];
    auto LeftOut = Run.Excluded.Kernels.find(Subjects[K].Kernel);
    std::string Why;
    if (Choices[K].Mode == TimingMode::Fixed)
      Why = Choices[K].Reason;
    else if (LeftOut != Run.Excluded.Kernels.end())
      Why = LeftOut->second;
    else if (Run.Failure)
      Why = *Run.Failure;
    else
      continue;
    O.Verdict = InRunVerdict::Undecided;
    O.Nominee = 0;
    O.Reason = Why;
  }
  return {std::move(Choices), std::move(Outcomes), std::move(Run)};
}

InRunTuning carve::untimed(const TuningJob &Job) {
  InRunTuning All;
  All.Choices.resize(Job.Kernels.size());
  All.Outcomes.resize(Job.Kernels.size());
  return All;
}

/// The least ratio of \p O 's variants that are not rejected; 1 if none is below 1.
static double leastRatio(const InRunOutcome &O) {
  double Least = 1;
  for (size_t V = FirstPlace; V < O.Ratios.size(); ++V)
    if (O.Ratios[V] > 0 && !O.isRejected(V))
      Least = std::min(Least, O.Ratios[V]);
  return Least;
}

/// Whether \p Old still decides the kernel after \p New, the outcome of a later run.
static bool stands(const InRunOutcome &Old, const InRunOutcome &New) {
  if (New.Verdict == InRunVerdict::Nominated) {
    // Where the later run has timed the old nominee, too, it has chosen between the two.
    bool Compared = Old.Nominee < New.Ratios.size() && New.Ratios[Old.Nominee] > 0;
    return Old.Verdict == InRunVerdict::Nominated && !Compared && !New.isRejected(Old.Nominee) &&
           Old.Ratio.Median <= New.Ratio.Median;
  }
  if (Old.Verdict == InRunVerdict::Nominated)
    return !New.isRejected(Old.Nominee);
  if (Old.Verdict == InRunVerdict::Undecided)
    return New.Verdict == InRunVerdict::Stays;
  return New.Verdict == InRunVerdict::Stays && leastRatio(Old) < leastRatio(New);
}

/// Adds to \p Into the times that only \p Old has.
static void mergeTimes(const InRunShapeTimes &Old, InRunShapeTimes &Into) {
  Into.TotalNs = Old.TotalNs;
  Into.InGroup |= Old.InGroup;
  Into.Ratios.resize(std::max(Into.Ratios.size(), Old.Ratios.size()), {0, 0, 0});
  for (size_t V = 0; V < Old.Ratios.size(); ++V)
    if (Into.Ratios[V].Median == 0)
      Into.Ratios[V] = Old.Ratios[V];
}

/// Adds to \p Into what \p Old knows of single variants.
static void mergeVariants(const InRunOutcome &Old, InRunOutcome &Into) {
  for (const InRunOutcome::Rejection &R : Old.Rejected)
    if (!Into.isRejected(R.Variant))
      Into.Rejected.push_back(R);
  Into.Ratios.resize(std::max(Into.Ratios.size(), Old.Ratios.size()), 0);
  Into.Intervals.resize(Into.Ratios.size());
  for (size_t V = 0; V < Old.Ratios.size(); ++V)
    if (Into.Ratios[V] == 0) {
      Into.Ratios[V] = Old.Ratios[V];
      Into.Intervals[V] = Old.Intervals[V];
    }
  Into.Shapes.resize(std::max(Into.Shapes.size(), Old.Shapes.size()));
  for (size_t S = 0; S < Old.Shapes.size(); ++S)
    mergeTimes(Old.Shapes[S], Into.Shapes[S]);
}

static void addRun(TimingRunResult &All, TimingRunResult Next) {
  All.Runs += Next.Runs;
  All.WallS += Next.WallS;
  llvm::append_range(All.Reruns, Next.Reruns);
  llvm::append_range(All.Excluded.Faults, Next.Excluded.Faults);
  All.Excluded.Kernels.insert(Next.Excluded.Kernels.begin(), Next.Excluded.Kernels.end());
  llvm::append_range(All.Record.Verified, Next.Record.Verified);
  All.Failure = std::move(Next.Failure);
}

void carve::addTimingRun(InRunTuning &All, InRunTuning Next, const JobBuild &Built) {
  for (size_t K = 0; K < Built.Kernels.size(); ++K) {
    InRunOutcome &Old = All.Outcomes[K], &New = Next.Outcomes[K];
    if (Built.Kernels[K].timedTogether() == 0)
      continue;
    bool IsFirst = Old.Reason.empty() && Old.Verdict == InRunVerdict::Undecided;
    if (!IsFirst && stands(Old, New)) {
      mergeVariants(InRunOutcome(New), Old);
      continue;
    }
    InRunOutcome Before = std::move(Old);
    Old = std::move(New);
    mergeVariants(Before, Old);
    // The run that lost the nominee did not time the next best.
    if (Before.Verdict == InRunVerdict::Nominated && Old.Verdict == InRunVerdict::Stays &&
        leastRatio(Old) < InRunLimits().ScreeningRatio) {
      Old.Verdict = InRunVerdict::Undecided;
      Old.Reason = "its best variant was rejected in a later run";
    }
    All.Choices[K] = std::move(Next.Choices[K]);
  }
  addRun(All.Run, std::move(Next.Run));
}

size_t carve::bestSoFar(const InRunTuning &All, size_t Kernel) {
  const InRunOutcome &O = All.Outcomes[Kernel];
  if (O.Nominee)
    return O.Nominee;
  double Least = leastRatio(O);
  for (size_t V = FirstPlace; V < O.Ratios.size(); ++V)
    if (Least < 1 && O.Ratios[V] == Least && !O.isRejected(V))
      return V;
  return 0;
}

std::vector<size_t> carve::variantsLeft(const InRunTuning &All, size_t Kernel,
                                        const JobBuild &Built) {
  const InRunOutcome &O = All.Outcomes[Kernel];
  if (O.Verdict == InRunVerdict::Nominated)
    return {O.Nominee};
  std::vector<size_t> Left;
  if (O.Verdict == InRunVerdict::Undecided)
    for (size_t V = FirstPlace; V < Built.Kernels[Kernel].Variants.size(); ++V)
      if (!O.isRejected(V))
        Left.push_back(V);
  return Left;
}

bool carve::isCompared(const InRunOutcome &Outcome) {
  constexpr double NearlyAll = 0.95;
  return Outcome.Proof != OutputProof::ProgramOutput && Outcome.Covered >= NearlyAll;
}

double carve::sureGain(const InRunOutcome &Outcome) {
  if (Outcome.Verdict != InRunVerdict::Nominated)
    return 0;
  return std::max(0.0, 1 - Outcome.Ratio.High);
}

double carve::gainOfOnePair(const InRunOutcome &Outcome) {
  const double Gain = sureGain(Outcome);
  return isCompared(Outcome) && Gain >= LeastForOnePair ? Gain : 0;
}

void carve::applyInRun(const InRunTuning &InRun, const JobBuild &Built,
                       std::vector<SubjectSpace> &Subjects) {
  for (size_t K = 0; K < InRun.Outcomes.size(); ++K) {
    const InRunOutcome &O = InRun.Outcomes[K];
    Subjects[K].Nominee = O.Nominee;
    if (O.Nominee) {
      Subjects[K].Predicted = O.Ratio.Median;
      Subjects[K].Compared = isCompared(O);
      Subjects[K].Varies = O.Proof == OutputProof::WithinSpread;
      Subjects[K].MayMoveBits = needsComparedOutput(Built.Kernels[K].Variants[O.Nominee]);
    }
    if (O.Verdict == InRunVerdict::Stays)
      Subjects[K].Stays = O.Reason;
    for (const InRunOutcome::Rejection &R : O.Rejected)
      if (R.Variant >= FirstPlace)
        Subjects[K].Excluded[R.Variant] = R.Why;
  }
}

/// Why the probe did not compare the kernel by replaying it, although the plan said so. It is empty
/// if the kernel was compared or was not to be.
static std::string whyNotCompared(const InRunTuning &InRun, size_t Kernel) {
  const InRunOutcome &O = InRun.Outcomes[Kernel];
  bool Compared = O.Timing == InRunTiming::Replay ||
                  (O.Nominee && O.Proof != OutputProof::ProgramOutput) ||
                  InRun.Choices[Kernel].Mode == TimingMode::Rotate;
  return Compared || O.NotReplayed.empty() ? "" : "not replayed: " + O.NotReplayed;
}

std::string carve::modeOf(const InRunTuning &InRun, size_t Kernel) {
  const InRunOutcome &O = InRun.Outcomes[Kernel];
  if (O.Verdict == InRunVerdict::Undecided)
    return nameOf(TimingMode::Fixed).str();
  if (O.Timing == InRunTiming::Replay)
    return nameOf(TimingMode::Replay).str();
  // The probe rotates a kernel if it finds that it cannot replay it.
  bool Verified = InRun.Choices[Kernel].Mode == TimingMode::VerifyRotate &&
                  whyNotCompared(InRun, Kernel).empty();
  return nameOf(Verified ? TimingMode::VerifyRotate : TimingMode::Rotate).str();
}

std::string carve::modeReasonOf(const InRunTuning &InRun, size_t Kernel) {
  const InRunOutcome &O = InRun.Outcomes[Kernel];
  if (O.Verdict == InRunVerdict::Undecided)
    return O.Reason;
  std::string Why = whyNotCompared(InRun, Kernel);
  return Why.empty() ? InRun.Choices[Kernel].Reason : Why;
}
