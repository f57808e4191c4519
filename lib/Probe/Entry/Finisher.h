/// \file
/// The probe's own thread. It delivers records twice a second, so that a program that is killed
/// leaves most of them, and finishes the record file when the process ends.
#pragma once

namespace carve::probe {

struct TracedProcess;

/// Starts the thread. Returns false if the system gives no more threads.
bool startFinisher(TracedProcess &P);

/// Makes the thread finish the file: it flushes the records and writes `end`. Returns when that is
/// done, or after \p TimeoutMs milliseconds. The thread does it because the caller may be, or be
/// called from, a signal handler on a thread that holds a lock of CUPTI or of the allocator. In
/// that case the wait ends with the timeout, rather than never. Async-signal-safe. Does nothing in
/// a forked child.
void finishWithin(unsigned TimeoutMs);

} // namespace carve::probe
