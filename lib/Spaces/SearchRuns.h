/// \file
/// Runs the programs of a search through a space: traces the reference and times the selected
/// configurations.
#pragma once

#include "Spaces/SearchState.h"

namespace carve {

/// Builds and runs configurations until one can be run. It becomes the reference, whose launches
/// and GPU are used for the metrics. With recorded times, the launches and
/// the GPU come from the trace among them. Does nothing if the search was recalled or if nothing
/// can be timed; in the latter case the architecture is the command's. Fails if none of the first
/// configurations can be run.
llvm::Error traceReference(SearchState &S);

/// Runs a configuration's program once, with its time stretched by \p Stretch. The program is built
/// if that was not done yet. Fails if it cannot be built or started, or if it is interrupted.
llvm::Expected<RunRecord> runProgram(SearchState &S, size_t Place,
                                     const probe::TimeStretch &Stretch = {});

/// Returns \p Output without what the user's metric matches. The metric differs from run to run,
/// although runs of one configuration may happen to print the same rounded number.
ProgramOutput comparable(const SearchRequest &Request, ProgramOutput Output);

/// Runs a configuration once and returns its cost, and as its fault whether its output differs from
/// the reference's. With recorded times it returns the recorded cost.
llvm::Expected<ConfigurationRun> runConfiguration(SearchState &S, size_t Place);

/// Times the selected configurations and finds the winner.
llvm::Error timeSpace(SearchState &S);

} // namespace carve
