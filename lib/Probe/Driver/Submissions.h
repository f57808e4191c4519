/// \file
/// Follows what the program submits to the driver: the gate at which its calls wait while one of
/// its launches is replayed, captured or counted, and its captures of streams. There is one object
/// for the process. The callbacks tell it about every call, and the modes ask it.
#pragma once

#include "Probe/Driver/StreamCaptures.h"
#include "Probe/Driver/SubmissionGate.h"

#include <set>

namespace carve::probe {

/// The gate and the captures of the process.
class Submissions {
public:
  /// Called before any call is seen. From then on calls with Role::Gated and the calls \p More wait
  /// at the gate.
  void guard(std::set<CUpti_CallbackId> More);

  /// Called at the entry of a call, before anything else is done about it. Waits while another
  /// thread holds the gate closed.
  void enter(CUpti_CallbackId Id);
  /// Called at the exit of a call, after everything else.
  void leave(CUpti_CallbackId Id, const CUpti_CallbackData &Call);

  SubmissionGate Gate;
  /// Counted only if a mode asks for the calls (StreamCaptures::Calls).
  StreamCaptures Captures;

private:
  bool isGated(CUpti_CallbackId Id) const;

  bool Guards = false;
  std::set<CUpti_CallbackId> More;
};

} // namespace carve::probe
