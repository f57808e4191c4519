/// \file
/// Makes a tuning request, says which of its members the command line sets, and completes it with
/// paths of the machine and of our installation before tune() runs it.
#pragma once

#include "Command/CommandContext.h"
#include "Tune/TunePipeline.h"
#include "Tune/TuningFlags.h"

namespace carve {

/// Returns a request with the defaults of `carve tune`.
TuneRequest requestToTune();

/// Returns the members of \p Request that the options of every tuning set.
TuningValues valuesOf(TuneRequest &Request);

/// Sets in \p Request what it needs of the machine and of our installation.
void placeRequest(TuneRequest &Request, const Toolchain &T, const CommandContext &Context);

} // namespace carve
