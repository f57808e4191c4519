/// \file
/// Writes the source of a random program of EntryPrograms.h. It includes apps/EntryProgram.cuh.
#pragma once

#include "EntryPrograms.h"

namespace carve::test {

/// Returns the definition of \p K with its body, which uses every parameter, and before any
/// condition, so that code for other values computes something else. Blocks do not touch each
/// other's output, and nothing rounds in more than one way.
std::string kernelText(const RandomKernel &K, std::mt19937 &Random);

/// Returns the source of \p P. The same seed gives the same text.
std::string programText(const RandomProgram &P);

} // namespace carve::test
