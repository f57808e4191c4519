#include "Evaluate/SweepEvaluation.h"

#include "Protocol/TimingRecords.h"
#include "Support/Error.h"
#include "Tune/InRun/RoundBudget.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace carve;

namespace {

/// The time of a kernel in a setting that cannot be chosen.
constexpr double Never = std::numeric_limits<double>::infinity();

/// Rows that a search has timed.
using Looked = std::set<SweepSetting>;

/// Compiling one variant takes about half a second of one of 16 cores. What is timed is assembled
/// once more, all in one module.
constexpr double CompileS = 0.03;
/// The most variants of a kernel in one round, and of a kernel that only whole runs can time.
constexpr size_t MostTimable = 400, MostByRuns = 12;

/// The searches of one program's kernels, in rounds as tuning makes them.
class ProgramSearch {
public:
  ProgramSearch(const SweptProgram &P, const DeviceModel &D, const EvaluationLimits &Limits,
                const ModelScale &Scale)
      : D(D), PlainS(Limits.plainS(P.defaultNs())),
        Budget{Limits.BudgetS > 0 ? Limits.BudgetS : RoundBudget::defaultS(PlainS, Limits.Effort),
               PlainS} {
    double Sum = 0;
    for (const SweptKernel &K : P.Kernels)
      if (P.isHot(K)) {
        Kernels.emplace_back(K, D, Limits.Effort, Scale);
        Sum += K.defaultNs();
      }
    for (Searched &S : Kernels)
      S.Share = S.K->defaultNs() / Sum;
  }

  /// Makes all rounds. Returns the rows that are timed of each kernel, without the default.
  std::map<const SweptKernel *, Looked> run();
  /// Seconds that the tuning would take.
  double seconds() const { return SpentS + Budget.confirmationS(Prospect); }

private:
  struct Searched {
    Searched(const SweptKernel &K, const DeviceModel &D, unsigned Effort, const ModelScale &Scale)
        : K(&K), Swept(sweptSpace(K, D)), Search(Swept.Space, Effort, Scale) {}
    const SweptKernel *K;
    SweptSpace Swept;
    KernelSearch Search;
    double Share = 0; ///< Of the time of all kernels that are tuned.
    bool Compiled = false;
    Looked Rows;
  };
  /// A setting to compile. Its weight is what it promises for the program, as tuning counts it.
  struct Wish {
    double Weight;
    size_t Kernel;
    VariantSetting Setting;
  };

  GainProspect prospect() const;
  bool makeRound(double RoundS);
  size_t timable(const Searched &S, double ReplayS) const;
  void time(Searched &S, const std::vector<VariantSetting> &Wanted, size_t Timable);

  const DeviceModel &D;
  double PlainS;
  RoundBudget Budget;
  double SpentS = 0;
  GainProspect Prospect; ///< After the rounds so far.
  std::vector<Searched> Kernels;
};

std::map<const SweptKernel *, Looked> ProgramSearch::run() {
  SpentS = PlainS; // The trace.
  for (bool First = true;; First = false) {
    double RoundS = Budget.forRound(SpentS, First, Prospect);
    if (RoundS <= 0 || !makeRound(RoundS))
      break;
    Prospect = prospect();
  }
  std::map<const SweptKernel *, Looked> Rows;
  for (Searched &S : Kernels)
    Rows[S.K] = std::move(S.Rows);
  return Rows;
}

/// What the rounds so far have in hand, and what a further one promises, as tuning counts it.
GainProspect ProgramSearch::prospect() const {
  double InHand = 0, Promised = 0;
  for (const Searched &S : Kernels) {
    if (!S.Compiled) // It has had no round yet.
      continue;
    double Best = S.K->defaultNs();
    for (const SweepSetting &Row : S.Rows)
      Best = std::min(Best, S.K->Variants.at(Row).TimeNs);
    InHand += S.Share * (1 - Best / S.K->defaultNs());
    Promised += S.Share * S.Search.rest().Promise;
  }
  GainProspect Next = Prospect.next(InHand, Promised);
  Next.ByOnePair = InHand; // No confirmation fails here, whatever it takes.
  return Next;
}

/// How many rows of \p S a replay of \p ReplayS seconds can time.
size_t ProgramSearch::timable(const Searched &S, double ReplayS) const {
  for (size_t Count = MostTimable; Count > 0; Count = Count * 3 / 4)
    if (shortestReplayS(Count + FirstPlace, S.K->MeanNs) <= ReplayS)
      return Count;
  if (S.Compiled)
    return 0;
  return std::clamp<size_t>(size_t((Budget.BudgetS - SpentS) / std::max(PlainS, 1e-3) / 2), 2,
                            MostByRuns);
}

/// Makes one round of \p RoundS seconds. Returns false if nothing is worth trying.
bool ProgramSearch::makeRound(double RoundS) {
  std::vector<Wish> Wishes;
  std::vector<size_t> Timable;
  for (size_t K = 0; K < Kernels.size(); ++K) {
    Searched &S = Kernels[K];
    Timable.push_back(S.Swept.Rows.empty() ? 0 : timable(S, RoundReplayShare * RoundS * S.Share));
    std::vector<VariantSetting> Wanted;
    if (Timable.back())
      Wanted = S.Search.propose(Timable.back());
    const size_t Promising = Wanted.size();
    // As in a tuning, only replays have time for what promises little.
    if (shortestReplayS(1 + FirstPlace, S.K->MeanNs) <= RoundReplayShare * RoundS * S.Share)
      S.Search.fill(Wanted, Timable.back());
    for (size_t Rank = 0; Rank < Wanted.size(); ++Rank)
      Wishes.push_back({requestWeight(S.Share, Rank, Rank >= Promising), K, Wanted[Rank]});
  }
  if (Wishes.empty())
    return false;
  llvm::stable_sort(Wishes, [](const Wish &A, const Wish &B) { return A.Weight > B.Weight; });
  size_t Most = std::max<size_t>(1, size_t(RoundCompileShare * RoundS / CompileS));
  Wishes.resize(std::min(Wishes.size(), Most));
  SpentS += PlainS + 2 * CompileS * double(Wishes.size());
  std::map<size_t, std::vector<VariantSetting>> ByKernel;
  for (const Wish &W : Wishes)
    ByKernel[W.Kernel].push_back(W.Setting);
  for (const auto &[K, Wanted] : ByKernel)
    time(Kernels[K], Wanted, Timable[K]);
  return true;
}

/// Tells the search of \p S the rows of \p Wanted, of which at most \p Timable are timed.
void ProgramSearch::time(Searched &S, const std::vector<VariantSetting> &Wanted, size_t Timable) {
  const SweptKernel &K = *S.K;
  std::vector<Candidate> Made;
  if (!std::exchange(S.Compiled, true))
    Made.push_back({{}, sweptMetrics(K, K.Variants.at({}), D), {}});
  // One row can answer to several settings. They then have the same code, so the row's place is
  // used as their code digest.
  for (const VariantSetting &V : Wanted) {
    const SweepSetting &Row = S.Swept.Rows.at(V);
    size_t Place = std::distance(K.Variants.begin(), K.Variants.find(Row));
    Made.push_back({V, sweptMetrics(K, K.Variants.at(Row), D), std::to_string(Place)});
  }
  std::map<VariantSetting, double> Ratios;
  for (const VariantSetting &V : S.Search.admit(Wanted, std::move(Made), Timable)) {
    const SweepSetting &Row = S.Swept.Rows.at(V);
    S.Rows.insert(Row);
    Ratios[V] = K.Variants.at(Row).TimeNs / K.defaultNs();
  }
  S.Search.learn(Ratios);
  // Where a replay takes longer than whole runs, these are made.
  SpentS += std::min(shortestReplayS(Ratios.size() + FirstPlace, K.MeanNs),
                     double(Ratios.size() + FirstPlace) * PlainS);
}

/// Evaluates one program from its hot kernels and the rows that the search times of each.
class Evaluation {
public:
  Evaluation(const SweptProgram &P, const DeviceModel &D, const EvaluationLimits &Limits,
             const ModelScale &Scale)
      : P(P), D(D) {
    for (const SweptKernel &K : P.Kernels)
      for (const auto &[Setting, V] : K.Variants)
        Settings.insert(Setting);
    ProgramSearch Search(P, D, Limits, Scale);
    Timed = Search.run();
    Seconds = Search.seconds();
  }

  ProgramEvaluation evaluate() const {
    ProgramEvaluation E;
    E.Name = P.Name;
    E.HotKernels = Timed.size();
    E.Seconds = Seconds;
    for (const auto &[K, Rows] : Timed) {
      E.MaxTimed = std::max<unsigned>(E.MaxTimed, Rows.size());
      E.Timed += Rows.size();
    }
    double Default = P.defaultNs();
    E.Found = {Default / perFileNs(), Default / criticalPointsNs(), Default / carvedNs(),
               Default / everythingNs(), Default / randomNs()};
    return E;
  }

private:
  bool isHot(const SweptKernel &K) const { return Timed.count(&K); }

  /// Returns the time in \p S. If the table lacks it, a hot kernel cannot take this setting, and
  /// another kernel keeps its default.
  double nsIn(const SweptKernel &K, const SweepSetting &S) const {
    auto Found = K.Variants.find(S);
    if (Found != K.Variants.end())
      return Found->second.TimeNs;
    return isHot(K) ? Never : K.defaultNs();
  }

  double perFileNs() const {
    double Best = P.defaultNs();
    for (const SweepSetting &S : Settings) {
      SweepSetting OneCap;
      OneCap.FrontEndCap = OneCap.PtxasCap = S.PtxasCap;
      if (S != OneCap)
        continue;
      double Sum = 0;
      for (const SweptKernel &K : P.Kernels)
        Sum += nsIn(K, S);
      Best = std::min(Best, Sum);
    }
    return Best;
  }

  double criticalPointsNs() const {
    double Sum = 0;
    for (const SweptKernel &K : P.Kernels) {
      double Best = K.defaultNs();
      if (isHot(K)) {
        SweptSpace Swept = sweptSpace(K, D);
        for (unsigned Cap : Swept.Space.Caps) {
          VariantSetting V;
          V.Cap = Cap;
          if (auto Row = Swept.Rows.find(V); Row != Swept.Rows.end())
            Best = std::min(Best, K.Variants.at(Row->second).TimeNs);
        }
      }
      Sum += Best;
    }
    return Sum;
  }

  /// Returns the time of all kernels, each with its best timed row.
  double carvedNs() const {
    double Sum = 0;
    for (const SweptKernel &K : P.Kernels) {
      double Least = K.defaultNs();
      if (isHot(K))
        for (const SweepSetting &S : Timed.at(&K))
          Least = std::min(Least, K.Variants.at(S).TimeNs);
      Sum += Least;
    }
    return Sum;
  }

  double everythingNs() const {
    double Sum = 0;
    for (const SweptKernel &K : P.Kernels) {
      double Least = K.defaultNs();
      for (const auto &[S, V] : K.Variants)
        Least = std::min(Least, V.TimeNs);
      Sum += Least;
    }
    return Sum;
  }

  double randomNs() const {
    double Sum = 0;
    for (const SweptKernel &K : P.Kernels) {
      std::vector<double> Times;
      for (const auto &[S, V] : K.Variants)
        if (!S.isDefault())
          Times.push_back(std::min(V.TimeNs, K.defaultNs()));
      size_t Count = isHot(K) ? Timed.at(&K).size() : 0;
      Sum += Count ? expectedMinimum(std::move(Times), Count) : K.defaultNs();
    }
    return Sum;
  }

  const SweptProgram &P;
  const DeviceModel &D;
  std::map<const SweptKernel *, Looked> Timed; ///< Timed rows of the hot kernels.
  std::set<SweepSetting> Settings;
  double Seconds = 0;
};

double geometricMean(llvm::ArrayRef<ProgramEvaluation> Programs, double Speedups::*Which) {
  double Sum = 0;
  for (const ProgramEvaluation &P : Programs)
    Sum += std::log(P.Found.*Which);
  return std::exp(Sum / Programs.size());
}

} // namespace

double carve::expectedMinimum(std::vector<double> Values, size_t Count) {
  llvm::sort(Values);
  size_t N = Values.size();
  Count = std::min(Count, N);
  // The I-th value is the smallest drawn if none of those before it is drawn, which has probability
  // Left, and it is drawn then.
  double Sum = 0, Left = 1;
  for (size_t I = 0; I + Count <= N; ++I) {
    double Drawn = double(Count) / double(N - I);
    Sum += Left * Drawn * Values[I];
    Left *= 1 - Drawn;
  }
  return Sum;
}

llvm::Expected<SweepEvaluation> carve::evaluateSweep(llvm::ArrayRef<SweepRow> Rows,
                                                     const DeviceModel &D,
                                                     const EvaluationLimits &Limits,
                                                     const ModelScale &Scale) {
  SweepEvaluation E;
  const std::vector<SweptProgram> Programs = sweptPrograms(Rows, E.LeftOut);
  auto Evaluate = [&](double Part) {
    std::vector<ProgramEvaluation> All;
    for (const SweptProgram &P : Programs) {
      EvaluationLimits L = Limits;
      if (L.BudgetS <= 0)
        L.BudgetS = RoundBudget::defaultS(L.plainS(P.defaultNs()), L.Effort);
      L.BudgetS *= Part;
      All.push_back(Evaluation(P, D, L, Scale).evaluate());
    }
    return All;
  };
  E.Programs = Evaluate(1);
  if (E.Programs.empty())
    return malformed("no program of the table has a time of the default: frontend_cap '-', "
                     "ptxas_cap '-', register_usage_level 5, dlcm '-'");
  for (double Speedups::*Which : {&Speedups::PerFile, &Speedups::CriticalPoints, &Speedups::Carved,
                                  &Speedups::Everything, &Speedups::Random})
    E.Geomean.*Which = geometricMean(E.Programs, Which);
  for (double Part : {1.0 / 16, 1.0 / 8, 1.0 / 4, 1.0 / 2, 1.0}) {
    const std::vector<ProgramEvaluation> All = Part < 1 ? Evaluate(Part) : E.Programs;
    CurvePoint P;
    P.Part = Part;
    for (const ProgramEvaluation &Program : All)
      P.Seconds += Program.Seconds / double(All.size());
    P.Carved = geometricMean(All, &Speedups::Carved);
    E.Curve.push_back(P);
  }
  return E;
}
