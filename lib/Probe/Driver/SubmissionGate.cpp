#include "Probe/Driver/SubmissionGate.h"

#include <utility>

using namespace carve::probe;

/// The number of calls of this thread between entry and exit. It is more than one if a callback of
/// the program makes calls itself.
static thread_local int Mine = 0;

void SubmissionGate::enter() {
  std::unique_lock<std::mutex> Guard(Lock);
  // A nested call belongs to a call that has been let in already.
  if (Mine == 0)
    Changed.wait(Guard, [&] { return !Closed || Owner == std::this_thread::get_id(); });
  ++Mine;
  ++Inside;
}

void SubmissionGate::leave() {
  std::lock_guard<std::mutex> Guard(Lock);
  // The call may have begun before the gate was there.
  if (Mine == 0)
    return;
  --Mine;
  --Inside;
  if (Closed)
    Changed.notify_all();
}

bool SubmissionGate::close(std::chrono::milliseconds Limit) {
  std::unique_lock<std::mutex> Guard(Lock);
  if (Closed)
    return false;
  Closed = true;
  Owner = std::this_thread::get_id();
  if (Changed.wait_for(Guard, Limit, [&] { return Inside == Mine; }))
    return true;
  Closed = false;
  Changed.notify_all();
  return false;
}

void SubmissionGate::open() {
  std::lock_guard<std::mutex> Guard(Lock);
  Closed = false;
  Changed.notify_all();
}

bool SubmissionGate::closed() {
  std::lock_guard<std::mutex> Guard(Lock);
  return Closed;
}

OutsideGate::OutsideGate(SubmissionGate &Gate) : Gate(Gate), Calls(std::exchange(Mine, 0)) {
  std::lock_guard<std::mutex> Guard(Gate.Lock);
  Gate.Inside -= Calls;
  if (Gate.Closed)
    Gate.Changed.notify_all();
}

OutsideGate::~OutsideGate() {
  std::unique_lock<std::mutex> Guard(Gate.Lock);
  if (Calls > 0)
    Gate.Changed.wait(Guard, [&] { return !Gate.Closed; });
  Mine = Calls;
  Gate.Inside += Calls;
}
