/// \file
/// Words and numbers of a tuning's report that the text and the page share. The words for the
/// reasons why a kernel is not tuned are in Support/StayReason.
#pragma once

#include "Tune/Outcome/TuningReport.h"

#include <string>

namespace carve {

/// Returns `1.333 [1.316,1.351]`: the default's time over the tuned one, so that more is better.
/// The ends of the interval therefore change sides.
std::string speedupText(const RatioInterval &R);

/// Says how a kernel was timed within the program, and how its output was compared.
std::string inRunText(const InRunFinding &R);

/// Says, in a text for each, which launches take the kernel's further entry and in how much of the
/// traced run they did, the same of the entries that were in force before, and what is to be warned
/// of. Empty if there are no such entries.
std::vector<std::string> entryTexts(const KernelReport &K);

/// Says, in a text for each, which GPUs timed kernels at once, and which took no part and why.
/// Empty if the tuning was not asked for several.
std::vector<std::string> gpuTexts(const TuningReport &R);

/// `1 pair`, `3 pairs`.
std::string pairsText(unsigned Pairs);

/// Says how many pairs of runs the confirmation made and why it made no more. Empty if there was
/// none, or if the report does not tell.
std::string confirmationText(const TuningReport &R);

} // namespace carve
