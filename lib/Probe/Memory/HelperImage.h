/// \file
/// The probe's own kernels (device/Helper.cu) as a fat binary that is part of this library.
#pragma once

namespace carve::probe {

/// The prefix of the names of all the probe's kernels. Records of the program's kernels leave them
/// out.
inline constexpr char HelperKernelPrefix[] = "__carve_probe_";

/// Returns the image in the form that cuModuleLoadData takes.
const void *helperImage();

} // namespace carve::probe
