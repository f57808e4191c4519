/// \file
/// Holds the program's other threads back while one thread replays a launch: a driver call that
/// submits work or changes memory waits at its entry until the replay is over. Knows threads only.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace carve::probe {

/// Longer than this the program is not held up for a measurement: another thread's copy may wait
/// for a kernel; a program's queue may be long.
constexpr std::chrono::milliseconds GateLimit{500}, IdleLimit{2000};

class SubmissionGate {
public:
  /// At the entry of a call with Role::Gated: waits while another thread replays.
  void enter();
  /// At its exit.
  void leave();

  /// Closes the gate for the calling thread, whose own call does not count. False where calls of
  /// other threads are still under way after \p Limit (a copy that waits for a kernel, say), or
  /// another thread replays: then the gate stays open.
  bool close(std::chrono::milliseconds Limit);
  void open();

private:
  std::mutex Lock;
  std::condition_variable Changed;
  int Inside = 0; ///< Calls between entry and exit, over all threads.
  bool Closed = false;
  std::thread::id Owner;
};

} // namespace carve::probe
