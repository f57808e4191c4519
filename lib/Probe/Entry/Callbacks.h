/// \file
/// The CUPTI subscriber: handles the driver calls of the program that some mode must see, the
/// loading of device code, and the creation of contexts.
#pragma once

#include "Probe/Process/Failure.h"

namespace carve::probe {

struct TracedProcess;

/// Subscribes to CUPTI and enables what the modes need. Fails with the reason why the probe can do
/// nothing; in that case nothing is enabled.
Failure startCallbacks(TracedProcess &P);

} // namespace carve::probe
