/// \file
/// Builds the programs of a search through a space: each configuration as a whole, and the winner
/// as the user's command makes it.
#pragma once

#include "Spaces/SearchState.h"

namespace carve {

/// Builds the programs at \p Places, several at once. A configuration that cannot be built becomes
/// invalid. Fails if a compiler cannot be started or is interrupted.
llvm::Error buildPrograms(SearchState &S, llvm::ArrayRef<size_t> Places);

/// Returns the path or the name by which the command's compiler can be run. A name is looked up in
/// PATH, beside our own tools, and beside nvcc. Fails if there is no such program.
llvm::Expected<std::string> commandCompiler(const SearchState &S);

/// Makes the command's output of the winner, by the command as the user typed it. If the output is
/// already there, nothing is done. Fails if the command fails.
llvm::Error emitWinner(SearchState &S);

} // namespace carve
