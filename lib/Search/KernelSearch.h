/// \file
/// The search of one kernel's variants under a budget: which settings are worth compiling, which of
/// the compiled ones are carved away, which are timed, and what is tried around the best of them.
/// It knows neither compilers nor GPUs: tuning feeds it, and so does a table of measurements.
#pragma once

#include "Search/Carver.h"
#include "Search/VariantModel.h"

#include <map>
#include <set>

namespace carve {

struct SearchLimits {
  /// 0: critical points alone, in one round of timing; 1: and front-end caps, in two; 2: and knobs
  /// around the best; 3: and register-usage levels, in three rounds, where there is budget for 9 or
  /// more. Callers give 3 twice the budget.
  unsigned Effort = 2;
  unsigned MaxTimed = 12; ///< Variants of a kernel that are timed, the default not counted.
};

/// Calls go round: propose() - compile - carve() - time - learn(), until propose() gives nothing.
/// Each turn is one round of timing: one run of the user's program.
class KernelSearch {
public:
  KernelSearch(const KnobSpace &Space, SearchLimits Limits, const ModelScale &Scale = {});

  /// Settings to compile now, the most promising first, more than will be timed; none: the search
  /// is over. Names again what was compiled in an earlier round, but not timed: the caller may keep
  /// it.
  std::vector<VariantSetting> propose();
  /// Takes what came of them (the default, too, the first time), settings that failed or are
  /// forbidden left out. Returns those to be timed now, of \p Made; with none of them the next
  /// propose() may still give some.
  std::vector<VariantSetting> carve(std::vector<Candidate> Made);
  /// Takes times over the default's. Without it the next round rests on the model alone.
  void learn(const std::map<VariantSetting, double> &New);

  unsigned timed() const { return Timed; }
  /// What is not timed, in the order in which it was decided. Complete when propose() gives
  /// nothing: only then those that were left for want of promise or budget are in it.
  const std::vector<CarvedVariant> &carved() const { return Carved; }

private:
  unsigned rounds() const;
  unsigned roundSize() const;
  bool worthwhile(const VariantSetting &V) const;
  const Candidate *made(const VariantSetting &V) const;
  ModelPoint point(const VariantSetting &V) const;
  std::vector<VariantSetting> nearestPoints(llvm::ArrayRef<VariantSetting> Among) const;
  std::vector<VariantSetting> landmarks(llvm::ArrayRef<VariantSetting> Among) const;
  std::vector<VariantSetting> aroundTheBest() const;
  std::vector<VariantSetting> pick(llvm::ArrayRef<VariantSetting> Among, size_t Count) const;
  void cut(const VariantSetting &V, std::string Reason);
  void finish();

  KnobSpace Space;
  SearchLimits Limits;
  ModelScale Scale;
  VariantModel Model;
  unsigned Timed = 0;
  unsigned Round = 0;                      ///< Rounds that are carved.
  std::map<VariantSetting, double> Ratios; ///< Of those timed.
  double BestRatio = 1;
  std::map<VariantSetting, Candidate> Candidates; ///< Compiled, with the default.
  std::vector<VariantSetting> InOrder;            ///< The same, as they came, without the default.
  std::vector<VariantSetting> Proposed;           ///< In this round.
  std::set<VariantSetting> Gone;                  ///< Timed, cut, or failed to compile.
  /// Cut by metrics, and why: only beside the best they are looked at again.
  std::map<VariantSetting, std::string> Outdone;
  std::vector<VariantSetting> Chosen; ///< To be timed, in the order of choice.
  std::vector<CarvedVariant> Carved;
};

} // namespace carve
