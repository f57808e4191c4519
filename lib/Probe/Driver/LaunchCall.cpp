#include "Probe/Driver/LaunchCall.h"

using namespace carve;
using namespace carve::probe;

/// Does what streamOf() does. \p PerThread says that the call is a form with `_ptsz`.
static CUstream namedStream(CUstream Stream, bool PerThread) {
  if (Stream)
    return Stream;
  return PerThread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
}

CUstream carve::probe::streamOf(CUstream Stream, CUpti_CallbackId Id) {
  return namedStream(Stream, plainForm(Id) != Id);
}

LaunchShape carve::probe::shapeOf(const CUlaunchConfig &Config) {
  LaunchShape Shape;
  Shape.Grid = {Config.gridDimX, Config.gridDimY, Config.gridDimZ};
  Shape.Block = {Config.blockDimX, Config.blockDimY, Config.blockDimZ};
  Shape.DynamicSmemBytes = Config.sharedMemBytes;
  return Shape;
}

/// Decodes cuLaunchKernel and cuLaunchCooperativeKernel, whose first parameters are alike.
template <class Params> static LaunchCall decodePlain(Params *P, bool PerThread) {
  LaunchCall Call;
  Call.Slot = &P->f;
  Call.Shape.Grid = {P->gridDimX, P->gridDimY, P->gridDimZ};
  Call.Shape.Block = {P->blockDimX, P->blockDimY, P->blockDimZ};
  Call.Shape.DynamicSmemBytes = P->sharedMemBytes;
  Call.Stream = namedStream(P->hStream, PerThread);
  Call.Parameters = P->kernelParams;
  return Call;
}

static LaunchCall decodeKernel(cuLaunchKernel_params *P, bool PerThread) {
  LaunchCall Call = decodePlain(P, PerThread);
  Call.Extra = P->extra;
  return Call;
}

static LaunchCall decodeCooperative(cuLaunchCooperativeKernel_params *P, bool PerThread) {
  LaunchCall Call = decodePlain(P, PerThread);
  Call.Cooperative = true;
  return Call;
}

static std::optional<LaunchCall> decodeEx(cuLaunchKernelEx_params *P, bool PerThread) {
  if (!P->config)
    return std::nullopt;
  const CUlaunchConfig &Config = *P->config;
  LaunchCall Call;
  Call.Slot = &P->f;
  Call.Shape = shapeOf(Config);
  Call.Stream = namedStream(Config.hStream, PerThread);
  Call.Parameters = P->kernelParams;
  Call.Extra = P->extra;
  Call.Attributes = Config.attrs;
  Call.AttributeCount = Config.attrs ? Config.numAttrs : 0;
  for (unsigned I = 0; I < Call.AttributeCount; ++I) {
    const CUlaunchAttribute &A = Call.Attributes[I];
    if (A.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      Call.Cooperative = A.value.cooperative != 0;
    if (A.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && A.value.clusterDim.x)
      Call.Shape.Cluster = {A.value.clusterDim.x, A.value.clusterDim.y, A.value.clusterDim.z};
  }
  return Call;
}

std::optional<LaunchCall> LaunchCall::decode(CUpti_CallbackId Id, const void *Params) {
  void *Writable = const_cast<void *>(Params);
  CUpti_CallbackId Plain = plainForm(Id);
  bool PerThread = Plain != Id;
  switch (Plain) {
  case callOf<Role::Launch>(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel):
    return decodeKernel(static_cast<cuLaunchKernel_params *>(Writable), PerThread);
  case callOf<Role::Launch>(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx):
    return decodeEx(static_cast<cuLaunchKernelEx_params *>(Writable), PerThread);
  case callOf<Role::Launch>(CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel):
    return decodeCooperative(static_cast<cuLaunchCooperativeKernel_params *>(Writable), PerThread);
  default:
    return std::nullopt;
  }
}

static bool decidesHowItRuns(CUlaunchAttributeID Id) {
  switch (Id) {
  case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
  case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
  case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
  case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    return true;
  default:
    return false;
  }
}

std::vector<CUlaunchAttribute> LaunchCall::ownAttributes() const {
  std::vector<CUlaunchAttribute> Own;
  for (unsigned I = 0; I < AttributeCount; ++I)
    if (decidesHowItRuns(Attributes[I].id))
      Own.push_back(Attributes[I]);
  // cuLaunchCooperativeKernel says by its name what the other calls say by the attribute.
  if (Cooperative && !AttributeCount) {
    CUlaunchAttribute &A = Own.emplace_back();
    A.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    A.value.cooperative = 1;
  }
  return Own;
}

CUresult LaunchCall::launch(const DriverApi &Driver, CUfunction Function, CUstream On) const {
  std::vector<CUlaunchAttribute> Own = ownAttributes();
  CUlaunchConfig Config{};
  Config.gridDimX = Shape.Grid[0];
  Config.gridDimY = Shape.Grid[1];
  Config.gridDimZ = Shape.Grid[2];
  Config.blockDimX = Shape.Block[0];
  Config.blockDimY = Shape.Block[1];
  Config.blockDimZ = Shape.Block[2];
  Config.sharedMemBytes = Shape.DynamicSmemBytes;
  Config.hStream = On;
  Config.attrs = Own.data();
  Config.numAttrs = unsigned(Own.size());
  return Driver.LaunchKernelEx(&Config, Function, Parameters, Extra);
}
