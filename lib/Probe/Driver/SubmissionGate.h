/// \file
/// Holds the program's other threads back while one thread replays a launch: a driver call that
/// submits work or changes memory waits at its entry until the replay is over. The gate knows
/// threads and nothing else.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace carve::probe {

/// How long the program is held up for a measurement at most: GateLimit while the gate is being
/// closed, because a copy of another thread may be waiting for a kernel, and IdleLimit while the
/// device becomes idle, because the program's queue may be long.
constexpr std::chrono::milliseconds GateLimit{500}, IdleLimit{2000};

/// The gate of a process. Thread-safe.
class SubmissionGate {
public:
  /// Called at the entry of a call with Role::Gated. Waits while another thread replays.
  void enter();
  /// Called at the exit of such a call.
  void leave();

  /// Closes the gate for the calling thread, whose own call does not count. Returns false, and
  /// leaves the gate open, if calls of other threads are still running after \p Limit (for example
  /// a copy that waits for a kernel) or if another thread replays.
  bool close(std::chrono::milliseconds Limit);
  void open();
  /// Returns whether a thread has closed the gate, or tries to.
  bool closed();

private:
  friend class OutsideGate;
  std::mutex Lock;
  std::condition_variable Changed;
  int Inside = 0; ///< The number of calls between entry and exit, over all threads.
  bool Closed = false;
  std::thread::id Owner;
};

/// While it lives, the calls in which this thread is count as not yet begun, so that the gate can
/// be closed meanwhile. At the end the thread waits as at the entry of a call.
class OutsideGate {
public:
  explicit OutsideGate(SubmissionGate &Gate);
  OutsideGate(const OutsideGate &) = delete;
  OutsideGate &operator=(const OutsideGate &) = delete;
  ~OutsideGate();

private:
  SubmissionGate &Gate;
  int Calls; ///< The number of calls in which this thread is.
};

} // namespace carve::probe
