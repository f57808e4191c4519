#include "Tune/Job/TuningOptions.h"

using namespace carve;

SearchLimits carve::searchLimits(unsigned Effort) {
  SearchLimits Limits;
  Limits.Effort = Effort;
  if (Effort >= MaxEffort)
    Limits.MaxTimed *= 2;
  return Limits;
}
