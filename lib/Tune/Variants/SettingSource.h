/// \file
/// Where the settings of one kernel come from, in the rounds of a job (VariantRounds): its search,
/// or a list that is timed in full.
#pragma once

#include "Metrics/Counts/Metrics.h"
#include "Search/KernelSearch.h"
#include "Tune/Job/JobBuild.h"
#include "Tune/Job/TuningOptions.h"

#include "llvm/ADT/ArrayRef.h"

#include <map>
#include <optional>
#include <vector>

namespace carve {

/// Proposes the settings of one kernel.
class SettingSource {
public:
  /// \p Earlier are the settings that an earlier tuning decided.
  SettingSource(const KnobSpace &Space, const TuningOptions &Options,
                llvm::ArrayRef<VariantSetting> Earlier);

  /// See KernelSearch. A list proposes all it has at once.
  std::vector<VariantSetting> propose(size_t Most);
  /// See KernelSearch. A list has nothing that only fills a round.
  void fill(std::vector<VariantSetting> &Proposed, size_t Most) const;
  /// See KernelSearch. Of a list, everything is admitted.
  std::vector<VariantSetting> admit(llvm::ArrayRef<VariantSetting> Tried,
                                    std::vector<Candidate> Made, size_t Most);
  /// Takes settings that may not be compiled.
  void forbid(llvm::ArrayRef<VariantSetting> Settings);
  void learn(const std::map<VariantSetting, double> &Ratios);
  /// What is left to try. \p Beyond are caps that may not be tried.
  SearchEnd end(llvm::ArrayRef<unsigned> Beyond) const;
  /// See VariantRounds::promise().
  double promise(llvm::ArrayRef<VariantSetting> Again) const;
  /// Ends the search, and returns what is not timed.
  llvm::ArrayRef<CarvedVariant> finish();

  std::map<VariantSetting, StaticMetrics> Metrics; ///< For all compiled settings and the default.

private:
  std::optional<KernelSearch> Search;
  std::vector<VariantSetting> List;
};

} // namespace carve
