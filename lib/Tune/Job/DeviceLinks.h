/// \file
/// Repeats the device links (-rdc=true) of a job: finds the inputs of each link, and runs nvlink
/// over the modules with variants. Finding them is a step of prepareJob(); linking follows the
/// assembly of the modules in VariantRounds.
#pragma once

#include "Tune/Job/JobParts.h"

#include <set>
#include <vector>

namespace carve {

/// Finds the inputs of each link, and returns the links whose inputs are all there. Sets
/// ParsedModule::NotLinked of the relocatable units in \p Parsed that cannot be linked again. With
/// \p AnyLink, one sound link of a unit is enough. Without it, all links of the unit must be sound,
/// because the program has loaded them all.
std::vector<ParsedLink> parseLinks(std::vector<DeviceLink> Links, std::vector<ParsedModule> &Parsed,
                                   const TuningJob &Job, bool AnyLink);

/// Links the modules of relocatable units, which have their variants, into the images that the
/// program loads. Runs nvlink with the recorded options over these modules and all other inputs as
/// they were. Replaces Built.Links, and sets the registers of variants as in the linked images.
/// Returns the modules of the job that could not be linked.
std::set<size_t> linkKernelVariants(const TuningJob &Job, const JobSources &Sources,
                                    const JobContext &Context, JobBuild &Built);

/// Marks the kernels of \p Modules as not tuned, with the reason DeviceLinkFailed.
void leaveKernels(const std::set<size_t> &Modules, const TuningJob &Job, JobBuild &Built);

} // namespace carve
