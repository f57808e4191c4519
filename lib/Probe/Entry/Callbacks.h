/// \file
/// The CUPTI subscriber: what happens when the program makes a call of the driver that some mode
/// has to see, loads device code, or creates a context.
#pragma once

#include "Probe/Process/Failure.h"

namespace carve::probe {

struct TracedProcess;

/// Subscribes and enables what the modes need. A failure is why the probe has to stand aside; then
/// nothing is enabled.
Failure startCallbacks(TracedProcess &P);

} // namespace carve::probe
