#include "Probe/Driver/MemoryCalls.h"

#include "Probe/Driver/DriverCalls.h"

#include <algorithm>
#include <array>

using namespace carve::probe;

static constexpr std::array<std::string_view, 16> Prefixes = {
    "cuMem",           "cuArray",      "cuMipmapped",       "cuIpc",
    "cuGraphics",      "cuMulticast",  "cuImportExternal",  "cuExternalMemory",
    "cuSurf",          "cuPointerSet", "cuDestroyExternal", "cuCheckpointProcess",
    "cuCtxEnablePeer", "cuDeviceSet",  "cuDeviceGraphMem",  "cuCtxDisablePeer",
};

/// A bound above the number of calls of any driver.
static constexpr CUpti_CallbackId MostCalls = 10'000;

bool carve::probe::isMemoryCall(std::string_view Name) {
  bool Tells = Name.find("Get") != Name.npos;
  return !Tells && std::any_of(Prefixes.begin(), Prefixes.end(),
                               [&](std::string_view Prefix) { return Name.starts_with(Prefix); });
}

bool carve::probe::isGraphCall(std::string_view Name) {
  return Name.find("Get") == Name.npos &&
         (Name.starts_with("cuGraphExec") || Name.starts_with("cuGraphInstantiate") ||
          Name.starts_with("cuGraphLaunch") || Name.starts_with("cuGraphNodeSetEnabled"));
}

/// Returns the calls of CUPTI's list that \p IsMeant finds by their names and that lack \p Known.
static std::vector<CUpti_CallbackId> callsWithout(const CuptiApi &Cupti, Roles Known,
                                                  bool (*IsMeant)(std::string_view)) {
  std::vector<CUpti_CallbackId> Unknown;
  if (!Cupti.GetCallbackName)
    return Unknown;
  const char *Name = nullptr;
  for (CUpti_CallbackId Id = 1; Id < MostCalls; ++Id) {
    if (Cupti.GetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, Id, &Name) != CUPTI_SUCCESS || !Name)
      break;
    if (IsMeant(Name) && !rolesOf(Id).any(Known))
      Unknown.push_back(Id);
  }
  return Unknown;
}

std::vector<CUpti_CallbackId> carve::probe::unknownMemoryCalls(const CuptiApi &Cupti) {
  return callsWithout(Cupti, Role::Gated, isMemoryCall);
}

std::vector<CUpti_CallbackId> carve::probe::unknownGraphCalls(const CuptiApi &Cupti) {
  return callsWithout(Cupti, Role::ExecutableGraph | Role::GraphLaunch, isGraphCall);
}
