/// \file
/// The records of the protocol that belong to one launch shape of one kernel.
#pragma once

#include "Probe/Driver/Plan.h"

#include <initializer_list>
#include <string>
#include <string_view>

namespace carve::probe {

/// Three extents with commas between them.
std::string extentsText(const std::array<uint32_t, 3> &Extents);

/// The fields <grid> <block> <dynamic smem> <cluster> of \p Shape, tabs between them.
std::string shapeText(const LaunchShape &Shape);

/// A record that begins with the kernel and its shape, and goes on with \p Rest.
std::string shapeRecord(std::string_view Kind, std::string_view Kernel, const LaunchShape &Shape,
                        std::initializer_list<std::string> Rest);

/// The same of one launch, whose number \p Index comes before \p Rest.
std::string launchRecord(std::string_view Kind, std::string_view Kernel, const LaunchShape &Shape,
                         uint64_t Index, std::initializer_list<std::string> Rest);

} // namespace carve::probe
