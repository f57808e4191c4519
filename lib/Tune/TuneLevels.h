/// \file
/// A stage of a tuning with the largest effort: it times whole units at other register-usage
/// levels, after the variants of their kernels are chosen.
#pragma once

#include "Tune/TuneState.h"

namespace carve {

/// The result for one module of the job.
struct LeveledUnit {
  std::optional<unsigned> Level; ///< The level that won; absent if the command's level stays.
  Cubin Image;                   ///< The image at that level, with the kernels' chosen variants.
  UnitReport Report;
  bool Tried = false; ///< Whether there was another level to time.
};

/// Times the images of whole units at other register-usage levels by whole runs. Their kernels have
/// the variants that \p Outcome chose. Adds the runs to \p Outcome. Returns one element per module
/// of the job, or none below the largest effort. Fails if tuning cannot go on (see RunFunction).
llvm::Expected<std::vector<LeveledUnit>> tuneLevels(TuneState &State, const TuningJob &Job,
                                                    const JobBuild &Built,
                                                    const VariantRounds &Rounds,
                                                    SelectionOutcome &Outcome);

/// Changes \p Decided so that the kernels of each unit get the level that won. \p Units has one
/// element per module of \p Job, or none.
void decideLevels(llvm::ArrayRef<LeveledUnit> Units, const TuningJob &Job,
                  std::vector<DecidedUnit> &Decided);

} // namespace carve
