/// \file
/// The CUPTI subscriber: what happens when the program loads device code, creates a context, or
/// asks for a kernel's attributes.
#pragma once

#include <string>

namespace carve::probe {

struct TracedProcess;

/// Subscribes and enables what the mode needs. Returns an empty string, or the reason
/// for which the probe has to stand aside; then nothing is enabled.
std::string startCallbacks(TracedProcess &P);

} // namespace carve::probe
