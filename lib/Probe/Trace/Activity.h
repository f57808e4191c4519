/// \file
/// Manages CUPTI's activity buffers: hands out empty ones, and adds the kernel records in full ones
/// to the kernel table and the record file.
#pragma once

#include "Probe/Driver/ProbeMode.h"

namespace carve::probe {

struct CuptiApi;
class Devices;
class RecordFile;

/// Registers the buffers and switches kernel records on. All arguments must live until the process
/// ends. Returns false if CUPTI refuses.
bool startActivity(const CuptiApi &Cupti, RecordFile &File, Devices &Used, const ProbeModes &Modes);

/// Makes CUPTI deliver its records now. If \p Last is set, it also delivers incomplete ones.
void flushActivity(bool Last);

/// Called when the process ends. From now on a kernel without an end time does not count as lost.
/// Flushes for the last time.
void finishActivity();

} // namespace carve::probe
