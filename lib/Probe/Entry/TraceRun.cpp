#include "Probe/Entry/TraceRun.h"

#include "Probe/Replay/KernelHandles.h"

using namespace carve;
using namespace carve::probe;

/// Returns the handle of the kernel about which the call \p Id asks, or null if it asks about none.
static const void *askedKernel(CUpti_CallbackId Id, const void *Params) {
#define CARVE_CASE(Call, Field)                                                                    \
  case callOf<Role::AsksKernel>(CUPTI_DRIVER_TRACE_CBID_##Call):                                   \
    return static_cast<const Call##_params *>(Params)->Field;
  switch (Id) {
    CARVE_CASE(cuFuncGetAttribute, hfunc)
    CARVE_CASE(cuKernelGetAttribute, kernel)
    CARVE_CASE(cuOccupancyMaxActiveBlocksPerMultiprocessor, func)
    CARVE_CASE(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, func)
    CARVE_CASE(cuOccupancyMaxPotentialBlockSize, func)
    CARVE_CASE(cuOccupancyMaxPotentialBlockSizeWithFlags, func)
    CARVE_CASE(cuOccupancyAvailableDynamicSMemPerBlock, func)
    CARVE_CASE(cuOccupancyMaxPotentialClusterSize, func)
    CARVE_CASE(cuOccupancyMaxActiveClusters, func)
  default:
    return nullptr;
  }
#undef CARVE_CASE
}

void TraceRun::onQuery(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  const void *Handle = askedKernel(Id, Call.functionParams);
  if (const char *Name = Handle ? kernelName(Driver, Handle) : nullptr)
    File.addOnce(QueryRecord{Name, Call.functionName});
}

/// The driver is asked for the name only at the first such launch of this kernel. Other launches
/// cost one look-up.
void TraceRun::onProgrammaticLaunch(const void *Handle) {
  if (!Programmatic.first(Handle))
    return;
  if (const char *Name = kernelName(Driver, Handle))
    File.addOnce(AttributeRecord{Name, LaunchAttribute::Programmatic});
}

void TraceRun::onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  if (Call.callbackSite != CUPTI_API_ENTER || !Call.functionParams)
    return;
  if (const void *Handle = programmaticKernel(Id, Call.functionParams))
    onProgrammaticLaunch(Handle);
  else if (auto Kind = hazardKind(Id, Call.functionParams))
    File.addOnce(HazardRecord{*Kind, Call.functionName});
  Roles Means = rolesOf(Id);
  // A new kernel may get the handle of an unloaded one.
  if (Means.any(Role::LoadsImage))
    Programmatic.clear();
  if (Means.any(Role::AsksKernel))
    onQuery(Id, Call);
}
