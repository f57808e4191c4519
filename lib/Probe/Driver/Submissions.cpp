#include "Probe/Driver/Submissions.h"

using namespace carve::probe;

void Submissions::guard(std::set<CUpti_CallbackId> Calls) {
  Guards = true;
  More = std::move(Calls);
}

bool Submissions::isGated(CUpti_CallbackId Id) const {
  return Guards && (rolesOf(Id).any(Role::Gated) || More.count(Id) > 0);
}

void Submissions::enter(CUpti_CallbackId Id) {
  if (isGated(Id))
    Gate.enter();
}

void Submissions::leave(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  Captures.note(Id, Call);
  if (isGated(Id))
    Gate.leave();
}
