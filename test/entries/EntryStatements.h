/// \file
/// What the kernels of random programs do with their parameters. EntryProgramText.h makes bodies of
/// these statements, in any order.
///
/// In a statement, `$` is the parameter and `@` a value that may be its own. H is what the thread
/// has computed up to now, X and D are the same as float and double. Lane is the thread's place in
/// its block, and Id that among all threads. No statement overflows a signed number. What adds to a
/// float names how it rounds, because a multiplication and an addition might become one operation
/// in one variant and not in another.
#pragma once

#include "EntryParameters.h"

#include <string>
#include <vector>

namespace carve::test {

/// Returns the statement by which every value of a number gives another result.
std::string mixing(ParameterKind Kind);

/// Returns what else may be done with \p P. \p HasInput says whether the kernel has an input. In
/// statements for a structure, `$` is followed by the field.
std::vector<std::string> statementsFor(const RandomParameter &P, bool HasInput);

/// Writes the words of dynamic shared memory and reads those of other threads of the block.
extern const char *const WordsStatement;

/// Does the same with an element of static shared memory for each thread.
extern const char *const StaticStatement;

} // namespace carve::test
