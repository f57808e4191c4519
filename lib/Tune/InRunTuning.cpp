#include "Tune/InRunTuning.h"

using namespace carve;

static InRunSubject subjectOf(const JobKernel &K) {
  InRunSubject S;
  S.Kernel = K.Traced.Kernel;
  S.Variants = K.Variants.size();
  for (const KernelLaunches &L : K.Traced.Shapes)
    S.Shapes.push_back({L.Shape, L.Launches, double(L.TotalNs)});
  return S;
}

InRunTuning carve::judgeTimingRun(const TuningJob &Job, std::vector<ModeChoice> Choices,
                                  TimingRunResult Run) {
  std::vector<InRunSubject> Subjects;
  for (const JobKernel &K : Job.Kernels)
    Subjects.push_back(subjectOf(K));
  std::vector<InRunOutcome> Outcomes = selectInRun(Subjects, Run.Record);
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

void carve::applyInRun(const InRunTuning &InRun, std::vector<SubjectSpace> &Subjects) {
  for (size_t K = 0; K < InRun.Outcomes.size(); ++K) {
    const InRunOutcome &O = InRun.Outcomes[K];
    Subjects[K].Nominee = O.Nominee;
    if (O.Verdict == InRunVerdict::Stays)
      Subjects[K].Stays = O.Reason;
    for (const InRunOutcome::Rejection &R : O.Rejected)
      if (R.Variant > 1)
        Subjects[K].Excluded[R.Variant] = R.Why;
  }
}

/// Why the probe compared nothing by replaying, although it was to, or nothing.
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
  // The probe rotates where it finds that it cannot replay.
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
