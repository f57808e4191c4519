/// \file
/// Says how much memory of the host a snapshot may take beside the program. A snapshot that took
/// more could get the program killed.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace carve::probe {

/// Returns `MemAvailable` from the text of /proc/meminfo in bytes, or nothing if the text has no
/// such line.
std::optional<size_t> parseMemAvailable(std::string_view Text);

/// Returns how many bytes a control group has left, from the texts of memory.max, memory.current
/// and memory.stat. Pages of files that were not used lately count as free: they fill a group after
/// a large build, and the kernel takes them back when memory is needed. Returns nothing if the
/// group has no limit.
std::optional<size_t> parseGroupRoom(std::string_view Limit, std::string_view Current,
                                     std::string_view Stat);

/// Returns how many bytes this process can still allocate: the least of what the machine and its
/// control groups leave. Returns 0 if the system does not tell. The first call opens the files that
/// say so, and must therefore be made when the probe starts.
size_t availableHostBytes();

} // namespace carve::probe
