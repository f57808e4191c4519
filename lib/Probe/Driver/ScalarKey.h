/// \file
/// Tells a kernel's launches apart by the values of their scalar arguments: the trace sums their
/// times by it (LaunchClasses), and a run with a plan finds their classes by it (KernelHandles).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace carve::probe {

/// Returns whether a word of 8 bytes may be an address. Addresses that kernels can reach are above
/// those of 32 bits, and have at most 57 bits. Doubles have more, small numbers fewer, and negative
/// ones all 64.
constexpr bool mayBeAddress(uint64_t Word) { return Word >> 32 != 0 && Word >> 57 == 0; }

/// Returns a number that is the same for two launches if their scalar arguments are, and different
/// for others as good as always; never 0. \p Bytes are the sizes of the parameters, and \p
/// Arguments is what the launch has as kernelParams.
///
/// A pointer is aligned to 8 bytes, so a parameter whose size is no multiple of 8 has none in it,
/// and all of it counts. In another one each word of 8 bytes that may be an address is left out:
/// programs pass other buffers from launch to launch, which does not change the work. It counts
/// that a word may be an address, since a null pointer often means less work.
uint64_t scalarKey(const std::vector<size_t> &Bytes, const void *const *Arguments);

} // namespace carve::probe
