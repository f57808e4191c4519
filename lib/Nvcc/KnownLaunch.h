/// \file
/// Defines what may be known of a kernel's launch when the kernel is compiled. Code that relies on
/// it may run only at launches for which it is true.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// A value of an integer argument that a launch has.
struct ArgumentValue {
  unsigned Parameter = 0; ///< Counted from 0.
  unsigned Bytes = 0;     ///< The size of the argument: 1, 2, 4 or 8.
  uint64_t Bits = 0;      ///< The value, zero-extended.

  auto operator<=>(const ArgumentValue &) const = default;
};

/// What is known of a launch when a kernel is compiled.
struct KnownLaunch {
  std::vector<ArgumentValue> Values = {};
  std::optional<std::array<unsigned, 3>> Block = {}, Grid = {};

  bool empty() const { return Values.empty() && !Block && !Grid; }
  auto operator<=>(const KnownLaunch &) const = default;
};

/// A kernel and what is known of its launches.
struct KnownKernel {
  std::string Kernel; ///< Mangled.
  KnownLaunch Launch;

  auto operator<=>(const KnownKernel &) const = default;
};

} // namespace carve
