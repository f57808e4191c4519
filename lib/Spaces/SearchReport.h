/// \file
/// What `carve search` prints for a person: what was carved and why, the times of what was left,
/// the winner, and after an exhaustive search the tables of what carving saves.
#pragma once

#include "Spaces/ProgramSearch.h"

#include <string>

namespace carve {

std::string printSearchText(const SearchRecord &Record);

/// The valid configurations as a picture (SVG): efficiency against utilization, the front, the
/// first and the fastest one, and times where there are any.
std::string printSearchPlot(const SearchRecord &Record);

} // namespace carve
