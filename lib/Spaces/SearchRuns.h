/// \file
/// The runs of a search through a space: the reference is traced, what is selected is timed.
#pragma once

#include "Spaces/SearchState.h"

namespace carve {

/// Builds and runs configurations until one can be run: the reference, whose launches and GPU the
/// metrics are of. Without a GPU the architecture is the command's.
llvm::Error traceReference(SearchState &S);

/// One run of a configuration's program, which is built where that has not been done, every launch
/// held back by \p LaunchDelayNs.
llvm::Expected<RunRecord> runProgram(SearchState &S, size_t Place, uint64_t LaunchDelayNs);

/// What is compared of \p Output: all but what the user's metric matches, which differs by its
/// nature, though runs of one configuration may all print the same rounded number.
ProgramOutput comparable(const SearchRequest &Request, ProgramOutput Output);

/// One run of a configuration: its cost, and whether its output is the reference's. Or the recorded
/// cost.
llvm::Expected<ConfigurationRun> runConfiguration(SearchState &S, size_t Place);

/// Times what is selected, and finds the winner.
llvm::Error timeSpace(SearchState &S);

} // namespace carve
