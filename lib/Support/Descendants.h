/// \file
/// The processes below this one, for ending them when a signal ends us: nvcc does not pass signals
/// on to the compilers that it has started. Async-signal-safe.
#pragma once

namespace carve {

/// From now on a descendant whose parent ends becomes our child, so that it is still found.
void adoptDescendants();

/// Sends \p Signal to every descendant in our session; daemons have left for one of their own.
/// Returns how many there are. With \p Signal 0 counts them.
int signalDescendants(int Signal);

/// Sends them \p Signal and waits until they have ended; those that have not after some seconds are
/// killed.
void endDescendants(int Signal);

} // namespace carve
