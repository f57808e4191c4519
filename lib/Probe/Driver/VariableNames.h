/// \file
/// The __device__ and __constant__ variables of the images that the driver has loaded: the driver
/// gives a variable's address by its name, and tells no names. Pure: reads memory, calls nothing.
#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace carve::probe {

/// Adds the names of the variables in the cubin \p Data to \p Names. What is no cubin has none.
void addVariableNames(const void *Data, size_t Bytes, std::set<std::string> &Names);

} // namespace carve::probe
