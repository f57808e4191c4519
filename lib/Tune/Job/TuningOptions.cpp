#include "Tune/Job/TuningOptions.h"

#include "Support/Error.h"

using namespace carve;

SearchLimits carve::searchLimits(unsigned Effort) {
  SearchLimits Limits;
  Limits.Effort = Effort;
  if (Effort >= MaxEffort)
    Limits.MaxTimed *= 2;
  return Limits;
}

llvm::Expected<unsigned> carve::defaultEffort(GetEnv Env) {
  unsigned Effort = SearchLimits().Effort;
  std::optional<std::string> Text = Env("CARVE_EFFORT");
  if (Text && !Text->empty() &&
      (llvm::StringRef(*Text).getAsInteger(10, Effort) || Effort > MaxEffort))
    return usageError("CARVE_EFFORT is '" + *Text + "', expected a whole number from 0 to " +
                      llvm::Twine(MaxEffort));
  return Effort;
}
