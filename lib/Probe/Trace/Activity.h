/// \file
/// CUPTI's activity buffers: hands them out, and turns the kernel records in the full ones into
/// the kernel table and file.
#pragma once

namespace carve::probe {

struct TracedProcess;

/// Registers the buffers and switches kernel records on. \p P lives until the process ends. False
/// where CUPTI refuses.
bool startActivity(TracedProcess &P);

/// Has CUPTI deliver its records now. \p Last: also those that are not complete.
void flushActivity(TracedProcess &P, bool Last);

} // namespace carve::probe
