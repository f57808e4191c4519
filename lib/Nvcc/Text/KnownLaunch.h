/// \file
/// Defines what may be known of a kernel's launch when the kernel is compiled. Code that relies on
/// it may run only at launches for which it is true.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace carve {

/// A value that an argument of a launch has, or a part of one, such as a field of a struct.
struct ArgumentValue {
  unsigned Parameter = 0; ///< Counted from 0.
  unsigned Bytes = 0;     ///< The size of the value: 1, 2, 4 or 8.
  uint64_t Bits = 0;      ///< The value, zero-extended.
  unsigned Offset = 0;    ///< Where it is in the argument, in bytes.

  /// The order in which values are listed: by parameter, then by place.
  auto place() const { return std::pair(Parameter, Offset); }

  auto operator<=>(const ArgumentValue &) const = default;
};

/// Where an argument, or a field of one, has an address.
struct PointerPlace {
  unsigned Parameter = 0; ///< Counted from 0.
  unsigned Offset = 0;    ///< Where the address is in the argument, in bytes.

  auto operator<=>(const PointerPlace &) const = default;
};

/// Adds \p Value to \p Values, which are in the order of their places. Of two values at one place,
/// the larger one stays.
inline void addValue(std::vector<ArgumentValue> &Values, const ArgumentValue &Value) {
  auto At = std::lower_bound(
      Values.begin(), Values.end(), Value,
      [](const ArgumentValue &A, const ArgumentValue &B) { return A.place() < B.place(); });
  if (At == Values.end() || At->place() != Value.place())
    Values.insert(At, Value);
  else if (At->Bytes < Value.Bytes)
    *At = Value;
}

/// What is known of a launch when a kernel is compiled.
struct KnownLaunch {
  std::vector<ArgumentValue> Values = {};
  std::optional<std::array<unsigned, 3>> Block = {}, Grid = {};
  /// The addresses here, by rising place, lead into allocations of plain device memory that are all
  /// different, so that what is written by one of them is not read by another.
  std::vector<PointerPlace> Apart = {};

  bool empty() const { return Values.empty() && !Block && !Grid && Apart.empty(); }
  auto operator<=>(const KnownLaunch &) const = default;
};

/// A kernel and what is known of its launches.
struct KnownKernel {
  std::string Kernel; ///< Mangled.
  KnownLaunch Launch;
  /// The parameters that may be `__restrict__` pointers at these launches, ascending, from 0.
  std::vector<unsigned> Restrict = {};

  auto operator<=>(const KnownKernel &) const = default;
};

} // namespace carve
