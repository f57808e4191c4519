/// \file
/// Makes a tuning request, says which of its members the command line sets, and completes it with
/// paths of the machine and of our installation before tune() carries it out.
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

/// Places \p Request and carries it out for a command of `carve`, with its progress on the terminal
/// unless \p Quiet. If there are \p Captures, they are launched in place of a program. Fails as
/// tune() does, and if there is no GPU and there are no recorded samples; \p Purpose says in that
/// message what a GPU is for.
llvm::Expected<TuneResult> tunePlaced(TuneRequest &Request, llvm::ArrayRef<std::string> Captures,
                                      llvm::StringRef Purpose, bool Quiet, UnitStore &Store,
                                      const CommandContext &Context);

} // namespace carve
