/// \file
/// Finds the names of the __device__ and __constant__ variables in the images that the driver has
/// loaded. The driver returns the address of a variable by its name, but does not list the names.
/// The function is pure: it reads memory and calls nothing.
#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace carve::probe {

/// Adds the names of the variables in the cubin \p Data of \p Bytes bytes to \p Names. Adds nothing
/// if \p Data is not a cubin.
void addVariableNames(const void *Data, size_t Bytes, std::set<std::string> &Names);

} // namespace carve::probe
