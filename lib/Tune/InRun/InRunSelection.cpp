// There are two sets of rounds, so that no variant is judged by the numbers that made it the best:
// the best of many is partly the luckiest. The correction for several comparisons therefore counts
// the variants that are judged on the held-out rounds, not those there were to choose from.

#include "Tune/InRun/InRunSelection.h"

#include "Protocol/PlanRecords.h"
#include "Tune/InRun/InRunRatios.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

using namespace carve;

namespace {

std::string numbersText(const char *Format, double A, double B = 0, double C = 0) {
  char Buffer[200];
  std::snprintf(Buffer, sizeof(Buffer), Format, A, B, C);
  return Buffer;
}

class SubjectJudge {
public:
  SubjectJudge(const InRunSubject &Subject, const InRunRecord &Record, const InRunLimits &Limits,
               llvm::ArrayRef<VerifiedVariant> Earlier)
      : Subject(Subject), Record(Record), Limits(Limits), Earlier(Earlier),
        Ratios(Subject, Record, Limits) {}

  InRunOutcome judge();

private:
  bool takeVerdicts();
  bool noneIsSound() const;
  void measureCover();
  bool comparedAllCodes(size_t Variant, const std::set<size_t> &Compared) const;
  std::vector<size_t> candidates() const;
  double rankOf(size_t Variant, double Ratio) const;
  void judgeHeldOut(std::vector<size_t> Candidates);
  void undecided(std::string Why) {
    Outcome.Verdict = InRunVerdict::Undecided;
    Outcome.Reason = std::move(Why);
  }
  void stays(double Best, std::string Why);
  void reject(size_t Variant, std::string Why) {
    if (Variant < Subject.Variants.size() && !Outcome.isRejected(Variant))
      Outcome.Rejected.push_back({Variant, std::move(Why)});
  }
  OutputProof proofOf(size_t Variant) const;

  const InRunSubject &Subject;
  const InRunRecord &Record;
  const InRunLimits &Limits;
  llvm::ArrayRef<VerifiedVariant> Earlier; ///< The verdicts of earlier runs.
  InRunRatios Ratios;
  RatioInterval Control; ///< Of the identical copy.
  InRunOutcome Outcome;
};

std::string verdictText(const VerifiedVariant &V) {
  std::string Detail = V.Detail.empty() ? "" : ": " + V.Detail;
  switch (V.Result) {
  case Verdict::Stray:
    return "wrote where the default does not" + Detail;
  case Verdict::Refused:
    return "the driver did not launch it" + Detail;
  default:
    return "its output differs from the default's" + Detail;
  }
}

/// Rejects variants by what they wrote or did. Returns false if the default or the control failed:
/// then no verdict says anything of a variant, and whole runs try all but those with a fault.
bool SubjectJudge::takeVerdicts() {
  std::string Wrong;
  auto Doubt = [&](const std::string &Variant, const std::string &Why) {
    Wrong = (Variant == ControlVariant ? "its identical copy: " : "the default itself: ") + Why;
  };
  auto Reject = [&](const std::string &Variant, const std::string &Why) {
    reject(Subject.numberOf(Variant), Why);
  };
  for (const VariantFault &F : Record.Faults)
    if (F.Kernel == Subject.Kernel)
      isReference(F.Variant) ? Doubt(F.Variant, F.Why) : Reject(F.Variant, F.Why);
  auto ForUnsound = [&](bool References, auto Do) {
    for (const VerifiedVariant &V : Record.Verified)
      if (V.Place.Kernel == Subject.Kernel && !isSound(V.Result) &&
          isReference(V.Variant) == References)
        Do(V.Variant, verdictText(V));
  };
  ForUnsound(true, Doubt);
  if (!Wrong.empty()) {
    undecided(Wrong);
    return false;
  }
  ForUnsound(false, Reject);
  for (size_t Variant : Subject.OnlyTimed)
    reject(Variant, "it computes something else and is only timed");
  return true;
}

/// Whether outputs were compared and no variant's was the default's.
bool SubjectJudge::noneIsSound() const {
  bool Any = false;
  for (const VerifiedVariant &V : Record.Verified)
    if (V.Place.Kernel == Subject.Kernel && !isReference(V.Variant)) {
      if (isSound(V.Result))
        return false;
      Any = true;
    }
  return Any;
}

void SubjectJudge::measureCover() {
  for (const StoodBackKernel &R : Record.StoodBack)
    if (R.Kernel == Subject.Kernel && Outcome.NotReplayed.empty())
      Outcome.NotReplayed = R.Why;
  for (const RotatedSample &R : Record.Rotated)
    Outcome.Rotated |= R.Kernel == Subject.Kernel;
  double CoveredNs = 0;
  const InRunShape *Heaviest = nullptr;
  for (const InRunShape &S : Ratios.shapes()) {
    if (!Ratios.covered(S))
      continue;
    CoveredNs += S.WeightNs;
    if (!Heaviest || S.WeightNs > Heaviest->WeightNs)
      Heaviest = &S;
  }
  Outcome.Covered = Ratios.totalNs() > 0 ? CoveredNs / Ratios.totalNs() : 0;
  if (!Heaviest)
    return;
  Outcome.Timing = Heaviest->Timing;
  Outcome.ChoosingRounds = Heaviest->rounds(false);
  Outcome.HeldOutRounds = Heaviest->rounds(true);
  if (Heaviest->Timing == InRunTiming::Replay) {
    Outcome.ColdNs = Heaviest->ColdNs;
    Outcome.WarmNs = Heaviest->WarmNs;
    Outcome.WarmWeight = Heaviest->WarmWeight;
    const InRunSubject::TracedShape &Traced = Subject.Shapes[Heaviest - Ratios.shapes().data()];
    double Mean =
        (1 - Heaviest->WarmWeight) * Heaviest->ColdNs + Heaviest->WarmWeight * Heaviest->WarmNs;
    if (Traced.replayedNs() > 0)
      Outcome.ReplayDistance = std::abs(Mean / Traced.replayedNs() - 1);
  }
}

/// The best variants in the choosing rounds, best first, among those with held-out rounds.
std::vector<size_t> SubjectJudge::candidates() const {
  std::vector<size_t> List;
  for (size_t V = FirstPlace; V < Subject.Variants.size(); ++V)
    if (!Outcome.isRejected(V) && Outcome.Ratios[V] > 0 &&
        Outcome.Ratios[V] < Limits.ScreeningRatio && !Ratios.heldOut(V).empty())
      List.push_back(V);
  std::stable_sort(List.begin(), List.end(), [&](size_t A, size_t B) {
    return rankOf(A, Outcome.Ratios[A]) < rankOf(B, Outcome.Ratios[B]);
  });
  List.resize(std::min<size_t>(List.size(), Limits.Candidates));
  return List;
}

/// The number by which \p Variant with the median \p Ratio is compared with other winners.
double SubjectJudge::rankOf(size_t Variant, double Ratio) const {
  if (Subject.Composed.count(Variant))
    Ratio /= Limits.WinningRatio;
  if (Subject.EvictFirst.count(Variant) && Outcome.Timing == InRunTiming::Replay)
    Ratio /= 1 - Limits.EvictionMargin;
  return Ratio;
}

/// Whether each code of \p Variant was compared at some shape of \p Compared whose launches run it.
bool SubjectJudge::comparedAllCodes(size_t Variant, const std::set<size_t> &Compared) const {
  auto Its = Subject.ShapesOfCodes.find(Variant);
  return Its == Subject.ShapesOfCodes.end() ||
         llvm::all_of(Its->second, [&](const std::set<size_t> &Shapes) {
           return llvm::any_of(Shapes, [&](size_t Shape) { return Compared.count(Shape); });
         });
}

OutputProof SubjectJudge::proofOf(size_t Variant) const {
  OutputProof Proof = OutputProof::Bitwise;
  std::set<size_t> ComparedShapes;
  for (size_t I = 0; I < Ratios.shapes().size(); ++I) {
    const InRunShape &S = Ratios.shapes()[I];
    if (S.Timing == InRunTiming::None || Ratios.leavesDefault(S, Variant))
      continue;
    bool Compared = false;
    for (const VerifiedVariant &V : llvm::concat<const VerifiedVariant>(Record.Verified, Earlier)) {
      if (V.Place.Kernel != Subject.Kernel || V.Variant != Subject.Variants[Variant] ||
          V.Place.Shape != Subject.Shapes[I].Shape || !isSound(V.Result))
        continue;
      Compared = true;
      if (V.Result == Verdict::WithinSpread)
        Proof = OutputProof::WithinSpread;
    }
    if (!Compared)
      return OutputProof::ProgramOutput;
    ComparedShapes.insert(I);
  }
  return comparedAllCodes(Variant, ComparedShapes) ? Proof : OutputProof::ProgramOutput;
}

/// Decides that the kernel stays, or that it is undecided. It is undecided if the times of two
/// identical copies scatter too much, because a gain could hide in that. It is also undecided if
/// \p Best, the ratio of the best variant, would be enough if the shapes that were not timed gained
/// like the others.
void SubjectJudge::stays(double Best, std::string Why) {
  double Scatter = std::max(1 - Control.Low, Control.High - 1);
  if (Scatter > Limits.LargestScatter)
    return undecided(numbersText("its times scatter by %.1f %% within the run", 100 * Scatter));
  if (Best > Limits.WinningRatio && 1 - (1 - Best) / Outcome.Covered <= Limits.WinningRatio)
    return undecided(numbersText("only launches with %.0f %% of its time were timed, and they gain",
                                 100 * Outcome.Covered));
  Outcome.Verdict = InRunVerdict::Stays;
  Outcome.Reason = std::move(Why);
}

void SubjectJudge::judgeHeldOut(std::vector<size_t> Candidates) {
  std::vector<std::vector<double>> HeldOut;
  size_t Count = SIZE_MAX;
  for (size_t V : Candidates) {
    HeldOut.push_back(Ratios.heldOut(V));
    Count = std::min(Count, HeldOut.back().size());
  }
  // If the rounds are too few to judge two variants, they may be enough for the better one.
  while (Candidates.size() > 1 && Count < leastCount(1 - 2 * Limits.Alpha / Candidates.size())) {
    Candidates.pop_back();
    HeldOut.pop_back();
  }
  double Confidence = 1 - 2 * Limits.Alpha / Candidates.size();
  double Bound = 1 - std::max(Limits.LeastMargin, 2 * Outcome.ControlDistance);
  bool Open = false;
  double LeastRank = HUGE_VAL;
  Outcome.Ratio.Median = HUGE_VAL;
  for (size_t I = 0; I < Candidates.size(); ++I) {
    RatioInterval R = ratioInterval(HeldOut[I], Confidence);
    bool Wins = R.Median <= Limits.WinningRatio && R.High < Bound;
    Open |= !Wins && R.Median <= Limits.WinningRatio;
    double Rank = rankOf(Candidates[I], R.Median);
    if (!Wins && (Outcome.Nominee || Rank >= LeastRank))
      continue;
    if (Outcome.Nominee && Rank >= LeastRank)
      continue;
    LeastRank = Rank;
    Outcome.Ratio = R;
    Outcome.Nominee = Wins ? Candidates[I] : 0;
  }
  if (Outcome.Nominee) {
    Outcome.Verdict = InRunVerdict::Nominated;
    Outcome.Proof = proofOf(Outcome.Nominee);
  } else if (Open) {
    undecided(numbersText("the rounds do not decide: %.4f of the default's time, upper end %.4f, "
                          "needed below %.4f",
                          Outcome.Ratio.Median, Outcome.Ratio.High, Bound));
  } else {
    stays(Outcome.Ratio.Median,
          numbersText("not confirmed within the run: %.4f of the default's time, needed at most "
                      "%.3f",
                      Outcome.Ratio.Median, Limits.WinningRatio));
  }
}

InRunOutcome SubjectJudge::judge() {
  Outcome.Ratios.assign(Subject.Variants.size(), 0);
  Outcome.Intervals.resize(Subject.Variants.size());
  measureCover();
  if (!takeVerdicts())
    return std::move(Outcome);
  const char *const NoneIsSound = "no variant produced the default's output";
  if (Outcome.Covered < Limits.LeastCovered) {
    if (Outcome.Timing == InRunTiming::None && Outcome.NotReplayed.empty() && noneIsSound())
      stays(1, NoneIsSound);
    else if (!Outcome.NotReplayed.empty())
      undecided("not replayed: " + Outcome.NotReplayed);
    else
      undecided(Ratios.shapes().empty() || Outcome.Timing == InRunTiming::None
                    ? "it was not launched often enough within the run"
                    : numbersText("only launches with %.0f %% of its time were timed",
                                  100 * Outcome.Covered));
    return std::move(Outcome);
  }
  std::optional<RatioInterval> OfControl = Ratios.control();
  if (!OfControl) {
    undecided("its identical copy was not timed");
    return std::move(Outcome);
  }
  Control = *OfControl;
  Outcome.ControlDistance = std::abs(Control.Median - 1);
  Outcome.Shapes = Ratios.byShape();
  double Least = HUGE_VAL;
  bool OneIsSure = false;
  for (size_t V = 0; V < Subject.Variants.size(); ++V) {
    Outcome.Intervals[V] = Ratios.choosing(V);
    Outcome.Ratios[V] = Outcome.Intervals[V].Median;
    if (Outcome.Ratios[V] > 0 && Subject.NeedProof.count(V) &&
        proofOf(V) == OutputProof::ProgramOutput)
      reject(V, NotCompared);
    if (V < FirstPlace || Outcome.Ratios[V] <= 0 || Outcome.isRejected(V))
      continue;
    Least = std::min(Least, Outcome.Ratios[V]);
    OneIsSure |= Outcome.Intervals[V].High < Limits.ScreeningRatio && Ratios.stayedInTheRace(V);
  }
  std::vector<size_t> Candidates = candidates();
  if (!Candidates.empty())
    judgeHeldOut(std::move(Candidates));
  else if (OneIsSure)
    undecided("a variant that was surely faster was not held out");
  else if (Least < Limits.ScreeningRatio)
    stays(Least, numbersText("no variant was surely faster: the best took %.3f of the default's "
                             "time in rounds that chose others",
                             Least));
  else if (Least < HUGE_VAL)
    stays(Least,
          numbersText("no variant was faster: the best took %.3f of the default's time", Least));
  else
    stays(1, NoneIsSound);
  return std::move(Outcome);
}

} // namespace

std::vector<InRunOutcome> carve::selectInRun(const std::vector<InRunSubject> &Subjects,
                                             const InRunRecord &Record, const InRunLimits &Limits,
                                             llvm::ArrayRef<VerifiedVariant> Earlier) {
  std::vector<InRunOutcome> Outcomes;
  for (const InRunSubject &S : Subjects)
    Outcomes.push_back(SubjectJudge(S, Record, Limits, Earlier).judge());
  return Outcomes;
}

void carve::distrustRotated(std::vector<InRunOutcome> &Outcomes, const std::string &Difference) {
  bool Rotated = std::any_of(Outcomes.begin(), Outcomes.end(),
                             [](const InRunOutcome &O) { return O.Rotated; });
  for (InRunOutcome &O : Outcomes) {
    if (Rotated && !O.Rotated)
      continue;
    O.Verdict = InRunVerdict::Undecided;
    O.Nominee = 0;
    O.Reason = "the output of the timing run differs: " + Difference;
  }
}
