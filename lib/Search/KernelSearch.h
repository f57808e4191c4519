/// \file
/// Searches the variants of one kernel under a budget. It chooses which settings are compiled,
/// which of the compiled ones are carved away, which are timed, and what is tried around the best
/// of them. It knows neither compilers nor GPUs: tuning feeds it, and so does a table of
/// measurements.
#pragma once

#include "Search/Carver.h"
#include "Search/VariantModel.h"

#include <map>
#include <set>

namespace carve {

/// The bounds of one search.
struct SearchLimits {
  /// How much is tried. 0: only critical points, in one round. 1: front-end caps, too, in two
  /// rounds. 2: also knobs around the best variant. 3: also register-usage levels, in three rounds,
  /// if MaxTimed is 9 or more. Callers double MaxTimed for 3.
  unsigned Effort = 2;
  unsigned MaxTimed = 12; ///< Variants of the kernel that may be timed, without the default.
};

/// The caller repeats propose(), compiling, carve(), timing and learn() until propose() returns
/// nothing. Each repetition is one round: one run of the user's program.
class KernelSearch {
public:
  KernelSearch(const KnobSpace &Space, SearchLimits Limits, const ModelScale &Scale = {});

  /// Returns the settings to compile now, the most promising first; there are more of them than
  /// will be timed. If there are none, the search is over. A setting that was compiled in an
  /// earlier round but not timed may be returned again, so the caller can keep its code.
  std::vector<VariantSetting> propose();
  /// Takes the compiled candidates \p Made, in the first round with the default. Settings that
  /// failed to compile or are forbidden are simply missing. Returns the settings of \p Made to time
  /// now. If there are none, the next propose() can still return some.
  std::vector<VariantSetting> carve(std::vector<Candidate> Made);
  /// Takes the times of variants as ratios to the default's time. If it is not called, the next
  /// round relies on the model alone.
  void learn(const std::map<VariantSetting, double> &New);

  /// Returns how many variants carve() has chosen for timing so far.
  unsigned timed() const { return Timed; }
  /// Returns the settings that are not timed, in the order in which they were cut. The list is
  /// complete after propose() has returned nothing: only then does it contain those that promised
  /// too little or exceeded the budget.
  const std::vector<CarvedVariant> &carved() const { return Carved; }

private:
  unsigned rounds() const;
  unsigned roundSize() const;
  bool worthwhile(const VariantSetting &V) const;
  bool frontEndKnobIdle(FrontEndKnob Knob) const;
  bool early(const VariantSetting &V) const;
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
  unsigned Round = 0;                      ///< Rounds that were carved.
  std::map<VariantSetting, double> Ratios; ///< Times of the timed variants over the default's.
  double BestRatio = 1;
  std::map<VariantSetting, Candidate> Candidates; ///< All that were compiled, with the default.
  std::vector<VariantSetting> InOrder;  ///< Their settings as they came, without the default.
  std::vector<VariantSetting> Proposed; ///< In the current round.
  std::set<VariantSetting> Gone;        ///< Settings that were timed, cut, or failed to compile.
  /// Settings that were cut by metrics, with the reason. They come back only beside the best
  /// variant.
  std::map<VariantSetting, std::string> Outdone;
  std::vector<VariantSetting> Chosen; ///< Settings chosen for timing, in the order of choice.
  std::vector<CarvedVariant> Carved;
};

} // namespace carve
