/// \file
/// The probe's own thread: delivers records twice a second, so that a killed program leaves most
/// of them, and finishes the record file when the process ends.
#pragma once

namespace carve::probe {

struct TracedProcess;

/// Starts the thread. False where the system gives no more threads.
bool startFinisher(TracedProcess &P);

/// Has the file finished: records flushed, `end` written. Returns when that is done or after
/// \p TimeoutMs. It is done on the probe's thread, because the caller may be a signal handler, or
/// be called from one, on a thread that holds a lock of CUPTI or of the allocator: then waiting
/// ends with the timeout instead of never. Async-signal-safe. Does nothing in a forked child.
void finishWithin(unsigned TimeoutMs);

} // namespace carve::probe
