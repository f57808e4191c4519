/// \file
/// Ends the processes below this one when a signal ends us, because nvcc does not pass signals on
/// to the compilers that it has started. All functions are async-signal-safe.
#pragma once

namespace carve {

/// From now on a descendant becomes our child if its parent ends, so that we still find it.
void adoptDescendants();

/// Sends \p Signal to every descendant in our session. Daemons have left it for a session of their
/// own. Returns the number of descendants. \p Signal 0 only counts them.
int signalDescendants(int Signal);

/// Sends \p Signal to every descendant and waits until they have ended. Those that still run after
/// some seconds are killed.
void endDescendants(int Signal);

} // namespace carve
