#include "Probe/Entry/TraceRun.h"

#include "Probe/Driver/KernelSignature.h"
#include "Probe/Driver/LaunchCall.h"
#include "Probe/Driver/ScalarKey.h"

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

/// Called at the exit of a launch, when the driver has loaded the kernel's module. If the probe
/// made it do so, the module would not be recorded as the program's.
void TraceRun::onLaunched(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  std::optional<LaunchCall> Launch = LaunchCall::decode(Id, Call.functionParams);
  if (!Launch || !Result || *Result != CUDA_SUCCESS)
    return;
  CUfunction Handle = *Launch->Slot;
  // The parameters in an `extra` buffer are not read.
  void **Values = Launch->Extra ? nullptr : Launch->Parameters;
  std::string Lines;
  std::optional<LaunchScalars> Scalars = Arguments.compare(Handle, Launch->Shape, Values, Lines);
  if (!Scalars)
    if (const char *Name = kernelName(Driver, Handle))
      Scalars = Arguments.add(Handle, Name, parameterBytesOfHandle(Driver, Handle), Launch->Shape,
                              Values, Lines);
  if (!Lines.empty())
    File.append(Lines);
  if (Scalars && Scalars->Key)
    Classes.launched(Scalars->Kernel, Launch->Shape, *Scalars->Key, Call.correlationId);
  else if (Scalars)
    Classes.giveUp(Scalars->Kernel);
}

/// Takes note of the launches that the nodes of \p Graph make. The records of all of them have the
/// id of the one call.
void TraceRun::onNodes(const GraphCopy &Graph, uint64_t Correlation) {
  std::vector<size_t> Bytes;
  std::vector<const void *> Values;
  for (const CopiedNode &Node : Graph.Nodes) {
    const auto *Kernel = std::get_if<KernelWork>(&Node.Work);
    if (!Kernel || !Node.Enabled)
      continue;
    if (Kernel->Packed) {
      Classes.giveUp(Kernel->Name);
      continue;
    }
    Bytes.clear();
    Values.clear();
    for (const std::vector<char> &Value : Kernel->Arguments) {
      Bytes.push_back(Value.size());
      Values.push_back(Value.data());
    }
    Classes.launched(Kernel->Name, shapeOf(Kernel->Config), scalarKey(Bytes, Values.data()),
                     Correlation, /*ByNode=*/true);
  }
}

/// A graph that the device launches may never be launched by a call.
void TraceRun::onGraph(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  std::shared_ptr<GraphCopy> Changed = Graphs.note(Id, Call);
  if (Changed && Changed->Stays == GraphStay::DeviceLaunch)
    recordStay(File, *Changed);
  if (!rolesOf(Id).any(Role::GraphLaunch) || !Call.functionParams ||
      Call.callbackSite != CUPTI_API_ENTER)
    return;
  auto *P = static_cast<const cuGraphLaunch_params *>(Call.functionParams);
  std::shared_ptr<GraphCopy> Launched = Graphs.find(P->hGraph);
  if (!Launched)
    return File.addOnce(StayingGraph{"-", GraphStay::Unread});
  if (Launched->needsOtherContext(Call.context))
    Launched->stay(GraphStay::OtherContext);
  recordStay(File, *Launched);
  recordOverlap(File, *Launched);
  onNodes(*Launched, Call.correlationId);
}

TraceRun::Counted TraceRun::onKernel(const CUpti_ActivityKernel10 &Record, const LaunchShape &Shape,
                                     std::string &) {
  const uint64_t Ns = Record.end - Record.start;
  Classes.recorded(Record.name, Shape, Record.correlationId, Ns);
  Times.ended(Record.name, Shape, Ns, /*InGraph=*/Record.graphNodeId != 0);
  return {false, Record.name};
}

void TraceRun::onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  Roles Means = rolesOf(Id);
  onGraph(Id, Call);
  if (Means.any(ChangesHandles))
    Arguments.forgetHandles();
  if (!Call.functionParams)
    return;
  if (Call.callbackSite == CUPTI_API_EXIT) {
    if (Means.any(Role::Launch))
      onLaunched(Id, Call);
    return;
  }
  if (const void *Handle = programmaticKernel(Id, Call.functionParams))
    onProgrammaticLaunch(Handle);
  else if (auto Kind = hazardKind(Id, Call.functionParams))
    File.addOnce(HazardRecord{*Kind, Call.functionName});
  // A new kernel may get the handle of an unloaded one.
  if (Means.any(Role::LoadsImage))
    Programmatic.clear();
  if (Means.any(Role::AsksKernel))
    onQuery(Id, Call);
}
