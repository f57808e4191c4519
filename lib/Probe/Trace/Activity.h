/// \file
/// CUPTI's activity buffers: hands them out, and turns the kernel records in the full ones into
/// the kernel table and file.
#pragma once

#include "Probe/Driver/ProbeMode.h"

namespace carve::probe {

struct CuptiApi;
class Devices;
class RecordFile;

/// Registers the buffers and switches kernel records on. What is passed lives until the process
/// ends. False where CUPTI refuses.
bool startActivity(const CuptiApi &Cupti, RecordFile &File, Devices &Used, const ProbeModes &Modes);

/// Has CUPTI deliver its records now. \p Last: also those that are not complete.
void flushActivity(bool Last);

/// The process ends: a kernel that has no end yet is not lost from now on. Flushes for the last
/// time.
void finishActivity();

} // namespace carve::probe
