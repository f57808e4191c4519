/// \file
/// What one access of a warp costs when its addresses are a fixed stride apart: the sectors that
/// memory moves for it, and the rounds that shared memory takes.
#pragma once

#include <cstdint>

namespace carve {

/// The least that the second-level cache and memory move.
inline constexpr unsigned SectorBytes = 32;
inline constexpr unsigned WarpLanes = 32;

/// Bytes of the sectors that a warp's access touches, for one of its threads. \p Stride: bytes from
/// one thread to its neighbour; \p Bytes of each; \p Row threads are neighbours, the next row's
/// sectors are other ones. The first address is at the start of a sector.
double movedBytes(int64_t Stride, unsigned Bytes, unsigned Row);

/// Rounds that shared memory takes for a warp's access (wavefronts): 32 banks of four bytes give a
/// word each, and a word to all that ask for it. Without conflicts one for each 128 bytes.
double sharedRounds(int64_t Stride, unsigned Bytes);

} // namespace carve
