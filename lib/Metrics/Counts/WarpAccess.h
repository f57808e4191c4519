/// \file
/// Computes what one access of a warp costs if its addresses have a fixed stride: the sectors that
/// memory moves, and the rounds that shared memory takes.
#pragma once

#include <cstdint>

namespace carve {

/// The smallest unit that the L2 cache and memory move.
inline constexpr unsigned SectorBytes = 32;
inline constexpr unsigned WarpLanes = 32;

/// Returns the bytes of the sectors that an access of a warp touches, divided by its threads.
/// \p Stride is the distance between neighbours in bytes, and \p Bytes what each thread accesses.
/// \p Row threads are neighbours, and each row touches other sectors. The first address is taken to
/// be at the start of a sector.
double movedBytes(int64_t Stride, unsigned Bytes, unsigned Row);

/// Returns the rounds (wavefronts) that shared memory takes for an access of a warp. Each of the 32
/// banks delivers one word of four bytes per round, to all threads that ask for it. Without
/// conflicts there is one round for each 128 bytes.
double sharedRounds(int64_t Stride, unsigned Bytes);

} // namespace carve
