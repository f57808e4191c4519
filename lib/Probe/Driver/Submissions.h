/// \file
/// What the program submits to the driver: the gate at which its calls wait while one of its
/// launches is replayed, captured or counted, and its captures of streams. One for the process; the
/// callbacks tell it of every call, the modes ask it.
#pragma once

#include "Probe/Driver/StreamCaptures.h"
#include "Probe/Driver/SubmissionGate.h"

#include <set>

namespace carve::probe {

class Submissions {
public:
  /// Before any call is seen: calls with Role::Gated wait at the gate, and \p More.
  void guard(std::set<CUpti_CallbackId> More);

  /// At the entry of a call, before anything else is done about it: waits while the gate is closed
  /// by another thread.
  void enter(CUpti_CallbackId Id);
  /// At its exit, after everything else.
  void leave(CUpti_CallbackId Id, const CUpti_CallbackData &Call);

  SubmissionGate Gate;
  /// Counted only where a mode asks for the calls (StreamCaptures::Calls).
  StreamCaptures Captures;

private:
  bool isGated(CUpti_CallbackId Id) const;

  bool Guards = false;
  std::set<CUpti_CallbackId> More;
};

} // namespace carve::probe
