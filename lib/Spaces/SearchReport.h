/// \file
/// Prints the text and the picture of `carve search`: what was carved and why, the times of what
/// was left, the winner, and after an exhaustive search the tables of what carving saves.
#pragma once

#include "Spaces/ProgramSearch.h"

#include <string>

namespace carve {

/// Returns the text for the user.
std::string printSearchText(const SearchRecord &Record);

/// Returns the valid configurations as a picture (SVG): efficiency against utilization, the front,
/// the first and the fastest configuration, and the times that are known.
std::string printSearchPlot(const SearchRecord &Record);

} // namespace carve
