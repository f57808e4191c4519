/// \file
/// What the knobs of a job's kernels may be set to: what the PTX, the toolkit, the program's
/// launches and the user's own cap allow. Between the register regions and the search.
#pragma once

#include "Tune/Job/JobParts.h"

namespace carve {

/// The space of \p Kernel, whose entry stands in \p M. The limits of the launch domain go into
/// JobKernel::LaunchableRegs and SmemSpillingThreads; caps that it forbids are
/// noted in JobKernel::Dropped. Register-usage levels are none: they are the whole unit's.
KnobSpace knobSpaceOf(JobKernel &Kernel, const ParsedModule &M, const TuningJob &Job,
                      const JobContext &Context);

/// All of \p Space that one module can hold: every cap and none, with each front-end cap (as the
/// command says, the same, 255), load caching and spilling to shared memory. Without the default.
std::vector<VariantSetting> allSettings(const KnobSpace &Space);

/// Why \p Setting may not be compiled in \p M, or nothing: the user's own register cap.
std::optional<std::string> forbiddenSetting(const VariantSetting &Setting, const ParsedModule &M);

} // namespace carve
