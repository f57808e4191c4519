/// \file
/// What a request to run a program needs of the machine and of our installation.
#pragma once

#include "Command/CommandContext.h"
#include "Tune/TunePipeline.h"

namespace carve {

/// Fills in what \p Request needs of the machine and of our installation.
void placeRequest(TuneRequest &Request, const Toolchain &T, const CommandContext &Context);

} // namespace carve
