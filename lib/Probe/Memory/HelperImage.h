/// \file
/// The probe's own kernels (device/Helper.cu) as a fat binary, which is part of this library.
#pragma once

namespace carve::probe {

/// Every kernel of ours is named so; records of the program's kernels leave them out.
inline constexpr char HelperKernelPrefix[] = "__carve_probe_";

/// What cuModuleLoadData takes.
const void *helperImage();

} // namespace carve::probe
