/// \file
/// The programs of a search through a space: configurations built whole, and the winner as the
/// command makes it.
#pragma once

#include "Spaces/SearchState.h"

namespace carve {

/// Builds the programs \p Places, several at once; one that cannot be built is invalid.
llvm::Error buildPrograms(SearchState &S, llvm::ArrayRef<size_t> Places);

/// The program that the command names, in PATH, beside our own tools or nvcc. Fails where there is
/// none.
llvm::Expected<std::string> commandCompiler(const SearchState &S);

/// Makes the command's output of the winner, by the command as typed.
llvm::Error emitWinner(SearchState &S);

} // namespace carve
