/// \file
/// Completes a tuning request before tune() runs it, with paths of the machine and of our
/// installation.
#pragma once

#include "Command/CommandContext.h"
#include "Tune/TunePipeline.h"

namespace carve {

/// Sets in \p Request what it needs of the machine and of our installation.
void placeRequest(TuneRequest &Request, const Toolchain &T, const CommandContext &Context);

} // namespace carve
