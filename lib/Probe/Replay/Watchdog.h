/// \file
/// What happens when a run of a variant does not come back, or breaks the context: a `fault`
/// record, and the end of the process. The program's data may be lost to it, so nothing of the
/// program may run any more; the tuner starts the program anew without the variant.
#pragma once

#include "Probe/Driver/CuptiApi.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>

namespace carve::probe {

class RecordFile;

class Watchdog {
public:
  Watchdog(const DriverApi &Driver, RecordFile &File) : Driver(Driver), File(File) {}

  /// Waits until \p Stream is idle, and ends the process where that takes longer than \p LimitMs,
  /// or the stream's context is broken. \p Kernel and \p Variant are what runs there.
  void wait(CUstream Stream, uint64_t LimitMs, const std::string &Kernel,
            const std::string &Variant);

  /// Writes what note() was given, and the fault, and ends the process. From any thread.
  [[noreturn]] void fail(const std::string &Kernel, const std::string &Variant,
                         const std::string &Reason);
  /// The records of a replay under way, which must not be lost.
  void note(const std::string &Lines);
  /// The replay is over: writes them.
  void writeNotes();

  /// While a call of ours to the driver may block for ever: the probe's thread sees it by check().
  void expect(uint64_t LimitMs, const std::string &Kernel, const std::string &Variant);
  void done() { DeadlineMs = 0; }
  /// On the probe's own thread.
  void check();

private:
  std::string takeNotes();

  const DriverApi &Driver;
  RecordFile &File;
  std::mutex NotesLock;
  std::string Notes;
  std::atomic<uint64_t> DeadlineMs{0}; ///< 0: nothing is expected.
  std::mutex Lock;
  std::string Expected, ExpectedVariant; ///< The kernel, and which of its variants.
};

/// How long a kernel that takes \p MeanNs by default may run before it counts as hung: fifty times
/// as long, and \p LeastMs at least.
uint64_t hangLimitMs(uint64_t LeastMs, double MeanNs);

/// Milliseconds of a clock that only goes on.
uint64_t steadyMs();

/// The name of \p Error, such as CUDA_ERROR_ILLEGAL_ADDRESS, or its number.
std::string errorName(const DriverApi &Driver, CUresult Error);

/// Whether \p Error is one after which the context does nothing any more.
bool breaksContext(CUresult Error);

} // namespace carve::probe
