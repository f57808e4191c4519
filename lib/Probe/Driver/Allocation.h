/// \file
/// Defines an allocation of the program, and which addresses may be meant for it.
#pragma once

#include <cstdint>

namespace carve::probe {

/// An allocation of plain device memory, that of cuMemAlloc.
struct Allocation {
  uint64_t Start = 0, Bytes = 0; ///< Both are 0 where there is no allocation.

  explicit operator bool() const { return Start && Bytes; }
  /// Whether a program may pass \p Address for memory in this allocation: it leads into it, to its
  /// end, as C++ allows, or a few bytes before it, as some pass arrays that are counted from 1. The
  /// address may then lie in another allocation.
  bool mayBeMeantBy(uint64_t Address) const {
    constexpr uint64_t Before = 64;
    return *this && Address + Before >= Start && Address <= Start + Bytes;
  }
};

/// Whether the addresses \p A and \p B, which lead into \p OfA and \p OfB, cannot be meant for the
/// same allocation. The code that Emit/DispatchSource.cpp writes compares them in the same way.
inline bool areApart(uint64_t A, const Allocation &OfA, uint64_t B, const Allocation &OfB) {
  return OfA && OfB && !OfB.mayBeMeantBy(A) && !OfA.mayBeMeantBy(B);
}

} // namespace carve::probe
