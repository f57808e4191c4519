/// \file
/// What the kernels of random programs do with their parameters. EntryProgramText.h makes bodies of
/// these statements, in any order.
///
/// In a statement, `$` is the parameter and `@` a value that may be its own. H is what the thread
/// has computed up to now, X and D are the same as float and double. Lane is the thread's place in
/// its block, and Id that among all threads. Out and In are the output and the input. No statement
/// overflows a signed number. What adds to a float names how it rounds, because a multiplication
/// and an addition might become one operation in one variant and not in another.
#pragma once

#include "EntryParameters.h"

#include <string>
#include <vector>

namespace carve::test {

/// Returns the statement by which every value of a number gives another result; an empty text for
/// pointers.
std::string mixing(ParameterKind Kind);

/// Returns what else may be done with \p P, which may be nothing. \p ReadsInput says whether the
/// kernel has an input that threads may read at any place. In statements for a structure, `$` is
/// followed by the field.
std::vector<std::string> statementsFor(const RandomParameter &P, bool ReadsInput);

/// Writes the words of dynamic shared memory and reads those of other threads of the block.
extern const char *const WordsStatement;

/// Does the same with an element of static shared memory for each thread.
extern const char *const StaticStatement;

/// Reads the input only where the same thread has just written the output. The result is another
/// one if both are the same memory, and also if the compiler takes them for different memory then.
extern const char *const OwnInputStatement;

} // namespace carve::test
