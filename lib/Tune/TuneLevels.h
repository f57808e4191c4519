/// \file
/// The register-usage levels of whole units, which a tuning tries after its kernels are chosen.
#pragma once

#include "Tune/TuneState.h"

namespace carve {

/// What was found of a module of the job at other register-usage levels.
struct LeveledUnit {
  std::optional<unsigned> Level; ///< That won; absent: the command's stays.
  Cubin Image;                   ///< At that level, with the kernels' chosen variants.
  UnitReport Report;
  bool Tried = false;
};

/// Times the images of whole units at other register-usage levels, their kernels as \p Outcome
/// chose them, by whole runs. By module of the job; nothing below the largest effort.
llvm::Expected<std::vector<LeveledUnit>> tuneLevels(TuneState &State, const TuningJob &Job,
                                                    const VariantRounds &Rounds,
                                                    SelectionOutcome &Outcome);

/// Gives the kernels of each unit the level that won. \p Units: by module of \p Job, or empty.
void decideLevels(llvm::ArrayRef<LeveledUnit> Units, const TuningJob &Job,
                  std::vector<DecidedUnit> &Decided);

} // namespace carve
