/// \file
/// Tells the program's driver calls from those that the probe makes inside a callback. The
/// callbacks ask it about every call, and whoever makes calls in the program's name says so here.
#pragma once

#include <utility>

namespace carve::probe {

/// Marks that the thread is inside a callback. The probe itself calls the driver there, and such a
/// call is not the program's.
class CallbackScope {
public:
  CallbackScope() { ++depth(); }
  CallbackScope(const CallbackScope &) = delete;
  CallbackScope &operator=(const CallbackScope &) = delete;
  ~CallbackScope() { --depth(); }
  static bool inside() { return depth() > 0; }

private:
  friend class ProgramCalls;
  static int &depth(); ///< Of this thread.
};

/// While it lives, calls that the probe makes on this thread count as the program's: they pass
/// through the callbacks and every mode.
class ProgramCalls {
public:
  ProgramCalls() : Outer(std::exchange(CallbackScope::depth(), 0)) { ++count(); }
  ProgramCalls(const ProgramCalls &) = delete;
  ProgramCalls &operator=(const ProgramCalls &) = delete;
  ~ProgramCalls() {
    CallbackScope::depth() = Outer;
    --count();
  }
  /// Whether the call in which this thread is was made so.
  static bool active() { return count() > 0; }

private:
  static int &count(); ///< Of this thread.
  int Outer;
};

} // namespace carve::probe
