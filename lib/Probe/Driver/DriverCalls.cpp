#include "Probe/Driver/DriverCalls.h"

using namespace carve::probe;

std::vector<CUpti_CallbackId> carve::probe::callsWith(Roles Any) {
  std::vector<CUpti_CallbackId> Calls;
  for (CUpti_CallbackId Id = 0; Id < DriverCallLimit; ++Id)
    if (rolesOf(Id).any(Any))
      Calls.push_back(Id);
  return Calls;
}
