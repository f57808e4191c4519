#include "Evaluate/SweepEvaluation.h"

#include "Support/Error.h"

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

/// Runs the search on the rows of \p K and returns those that it times, without the default.
Looked search(const SweptKernel &K, const DeviceModel &D, const EvaluationLimits &Limits,
              const ModelScale &Scale) {
  SweptSpace Swept = sweptSpace(K, D);
  if (Swept.Rows.empty())
    return {};
  Looked Rows;
  KernelSearch Search(Swept.Space, Limits.Effort, Scale);
  bool First = true;
  // Half of the rows that are left are timed in each round, but one row at least.
  auto RoundSize = [&] { return (Limits.MaxTimed - Rows.size() + 1) / 2; };
  for (std::vector<VariantSetting> Wanted = Search.propose(RoundSize()); !Wanted.empty();
       Wanted = Search.propose(RoundSize())) {
    std::vector<Candidate> Made;
    if (std::exchange(First, false))
      Made.push_back({{}, sweptMetrics(K, K.Variants.at({}), D), {}});
    // One row can answer to several settings. They then have the same code, so the row's place is
    // used as their code digest.
    for (const VariantSetting &V : Wanted) {
      const SweepSetting &Row = Swept.Rows.at(V);
      size_t Place = std::distance(K.Variants.begin(), K.Variants.find(Row));
      Made.push_back({V, sweptMetrics(K, K.Variants.at(Row), D), std::to_string(Place)});
    }
    std::map<VariantSetting, double> Ratios;
    for (const VariantSetting &V : Search.admit(Wanted, std::move(Made), RoundSize())) {
      const SweepSetting &Row = Swept.Rows.at(V);
      Rows.insert(Row);
      Ratios[V] = K.Variants.at(Row).TimeNs / K.defaultNs();
    }
    Search.learn(Ratios);
  }
  return Rows;
}

/// Evaluates one program from its hot kernels and the rows that the search times of each.
class Evaluation {
public:
  Evaluation(const SweptProgram &P, const DeviceModel &D, const EvaluationLimits &Limits,
             const ModelScale &Scale)
      : P(P), D(D) {
    for (const SweptKernel &K : P.Kernels) {
      for (const auto &[Setting, V] : K.Variants)
        Settings.insert(Setting);
      if (P.isHot(K))
        Timed[&K] = search(K, D, Limits, Scale);
    }
  }

  ProgramEvaluation evaluate() const {
    ProgramEvaluation E;
    E.Name = P.Name;
    E.HotKernels = Timed.size();
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

  /// Returns the least time of all kernels at one register-usage level, each with its best timed
  /// row.
  double carvedNs() const {
    double Best = P.defaultNs();
    std::set<unsigned> Levels;
    for (const SweepSetting &S : Settings)
      Levels.insert(S.RegisterUsageLevel);
    for (unsigned Level : Levels) {
      SweepSetting Untuned;
      Untuned.RegisterUsageLevel = Level;
      double Sum = 0;
      for (const SweptKernel &K : P.Kernels)
        Sum += isHot(K) ? leastLookedAtNs(K, Level) : nsIn(K, Untuned);
      Best = std::min(Best, Sum);
    }
    return Best;
  }

  /// Returns the time of the best row of \p K that was timed at \p Level.
  double leastLookedAtNs(const SweptKernel &K, unsigned Level) const {
    double Least = Level == SweepSetting::DefaultRegisterUsageLevel ? K.defaultNs() : Never;
    for (const SweepSetting &S : Timed.at(&K))
      if (S.RegisterUsageLevel == Level)
        Least = std::min(Least, K.Variants.at(S).TimeNs);
    return Least;
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
  for (const SweptProgram &P : sweptPrograms(Rows, E.LeftOut))
    E.Programs.push_back(Evaluation(P, D, Limits, Scale).evaluate());
  if (E.Programs.empty())
    return malformed("no program of the table has a time of the default: frontend_cap '-', "
                     "ptxas_cap '-', register_usage_level 5, dlcm '-'");
  for (double Speedups::*Which : {&Speedups::PerFile, &Speedups::CriticalPoints, &Speedups::Carved,
                                  &Speedups::Everything, &Speedups::Random})
    E.Geomean.*Which = geometricMean(E.Programs, Which);
  return E;
}
