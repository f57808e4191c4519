/// \file
/// How much memory of the host a snapshot may take beside the program, which must not be killed
/// for it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace carve::probe {

/// `MemAvailable` in the text of /proc/meminfo.
std::optional<size_t> parseMemAvailable(std::string_view Text);

/// What a control group leaves: the texts of memory.max, memory.current and memory.stat. Pages of
/// files that were not used lately are free, too: they fill a group after a large build, and the
/// kernel takes them back when memory is needed. Nothing where there is no limit.
std::optional<size_t> parseGroupRoom(std::string_view Limit, std::string_view Current,
                                     std::string_view Stat);

/// What is free on this machine for this process's control group; 0 where it cannot be told. The
/// first call opens the files that say so, and belongs to the start of the probe.
size_t availableHostBytes();

} // namespace carve::probe
