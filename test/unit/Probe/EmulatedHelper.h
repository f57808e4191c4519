/// \file
/// What the probe's kernels (lib/Probe/Memory/device/Helper.cu) do, byte by byte on the host. The
/// unit tests run it instead of the kernels, and the results of the GPU are checked against it.
#pragma once

#include <string_view>

namespace carve::test {

/// Runs \p Kernel on memory of this process. \p Parameters are those of cuLaunchKernel. Returns
/// false if there is no such kernel, or if a shadow is not aligned like live memory.
bool runEmulated(std::string_view Kernel, void **Parameters);

} // namespace carve::test
