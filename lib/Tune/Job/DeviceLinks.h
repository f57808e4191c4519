/// \file
/// The device links of a job: their inputs found again, and nvlink run over the modules with
/// variants.
#pragma once

#include "Tune/Job/JobParts.h"

#include <set>
#include <vector>

namespace carve {

/// Finds the inputs of each link, and says in \p Parsed which relocatable units are in none that
/// can be linked again. \p AnyLink: one of several links suffices; else all have to be sound, as
/// the program has loaded them all.
std::vector<ParsedLink> parseLinks(std::vector<DeviceLink> Links, std::vector<ParsedModule> &Parsed,
                                   const TuningJob &Job, bool AnyLink);

/// Links the modules of relocatable units, variants made, into the images that the program loads:
/// nvlink with the recorded options, over the modules and over all other inputs as they were. Fills
/// Job.Links anew, and takes registers from the linked images. Returns the modules of the job that
/// nvlink refuses.
std::set<size_t> linkKernelVariants(const JobSources &Sources, TuningJob &Job,
                                    const JobContext &Context);

/// Says of the kernels of \p Modules that they are not tuned, as `device-link-failed`.
void leaveKernels(const std::set<size_t> &Modules, TuningJob &Job);

} // namespace carve
