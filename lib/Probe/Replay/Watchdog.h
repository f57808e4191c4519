/// \file
/// Handles a variant that hangs or breaks the context: writes a `fault` record and ends the
/// process. The program's data may be lost then, so nothing of the program may run any more. The
/// tuner starts the program again without the variant.
#pragma once

#include "Probe/Driver/CuptiApi.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>

namespace carve::probe {

class RecordFile;

/// The watchdog of a process.
class Watchdog {
public:
  Watchdog(const DriverApi &Driver, RecordFile &File) : Driver(Driver), File(File) {}

  /// Waits until \p Stream is idle. Ends the process if that takes longer than \p LimitMs or if the
  /// stream's context is broken. \p Kernel and \p Variant say what runs there.
  void wait(CUstream Stream, uint64_t LimitMs, const std::string &Kernel,
            const std::string &Variant);

  /// Writes what note() was given and the fault, and ends the process. It may be called from any
  /// thread.
  [[noreturn]] void fail(const std::string &Kernel, const std::string &Variant,
                         const std::string &Reason);
  /// Keeps the records of a replay in progress, which must not be lost if the process ends.
  void note(const std::string &Lines);
  /// Writes the kept records; called after the replay.
  void writeNotes();

  /// Called before a driver call of the probe that may block for ever, and done() after it. If the
  /// call takes longer than \p LimitMs, check() ends the process.
  void expect(uint64_t LimitMs, const std::string &Kernel, const std::string &Variant);
  void done() { DeadlineMs = 0; }
  /// Called at intervals on the probe's own thread.
  void check();

private:
  std::string takeNotes();

  const DriverApi &Driver;
  RecordFile &File;
  std::mutex NotesLock;
  std::string Notes;
  std::atomic<uint64_t> DeadlineMs{0}; ///< 0 if no call is in progress.
  std::mutex Lock;
  std::string Expected, ExpectedVariant; ///< The kernel and its variant.
};

/// Returns how many milliseconds a kernel may run before it counts as hung, if the default takes
/// \p MeanNs: fifty times as long, and at least \p LeastMs.
uint64_t hangLimitMs(uint64_t LeastMs, double MeanNs);

/// Returns the milliseconds of a monotonic clock.
uint64_t steadyMs();

/// Returns the name of \p Error, such as CUDA_ERROR_ILLEGAL_ADDRESS, or its number.
std::string errorName(const DriverApi &Driver, CUresult Error);

/// Returns whether the context can do nothing more after \p Error.
bool breaksContext(CUresult Error);

} // namespace carve::probe
