/// \file
/// Finds what the knobs of a job's kernels may be set to, as the PTX, the toolkit, the program's
/// launches and the user's own cap allow. It comes after the register regions and before the
/// search.
#pragma once

#include "Tune/Job/JobParts.h"

namespace carve {

/// The space of \p Kernel, whose entry is in \p M. Sets KernelBuild::LaunchableRegs and
/// SmemSpillingThreads to the limits of the launch domain, and adds caps that the domain forbids to
/// KernelBuild::Dropped. The space has no register-usage levels, because these belong to the whole
/// unit.
KnobSpace knobSpaceOf(const JobKernel &Kernel, const ParsedModule &M, const TuningJob &Job,
                      const JobContext &Context, KernelBuild &Built);

/// All settings of \p Space that one module can hold, without the default: each cap and no cap,
/// combined with each front end (as compiled, cap the same, cap 255, each knob alone), load
/// caching, and spilling to shared memory.
std::vector<VariantSetting> allSettings(const KnobSpace &Space);

/// Why \p Setting may not be compiled in \p M, or nothing if it may. The reason is a cap above the
/// user's own register cap.
std::optional<std::string> forbiddenSetting(const VariantSetting &Setting, const ParsedModule &M);

} // namespace carve
