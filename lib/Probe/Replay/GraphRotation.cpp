#include "Probe/Replay/GraphRotation.h"

#include "Protocol/GraphRotation.h"

#include <utility>

using namespace carve;
using namespace carve::probe;

/// Returns the addresses of the values of \p Kernel's arguments. The driver only reads them.
static std::vector<void *> valuesOf(const KernelWork &Kernel) {
  std::vector<void *> Values;
  for (const std::vector<char> &Value : Kernel.Arguments)
    Values.push_back(const_cast<char *>(Value.data()));
  return Values;
}

/// Returns whether variants may run in \p Graph: its nodes are known, and they run in \p Context.
bool GraphRotation::mayExchange(const GraphCopy &Graph, CUstream Stream, CUcontext Context) const {
  CUcontext OfStream = nullptr;
  return Graph.Stays && rotatesAsGraph(*Graph.Stays) && !Graph.HidesKernels &&
         Driver.GraphExecKernelNodeSetParams && !Graph.needsOtherContext(Context) &&
         Driver.StreamGetCtx(Stream, &OfStream) == CUDA_SUCCESS && OfStream == Context;
}

ExchangedLaunch GraphRotation::exchange(CUgraphExec Executable, std::shared_ptr<GraphCopy> Graph,
                                        CUstream Stream, const CUpti_CallbackData &Call) {
  ExchangedLaunch Launch{Executable, std::move(Graph), {}};
  const GraphCopy &Copy = *Launch.Graph;
  if (!mayExchange(Copy, Stream, Call.context) || !Graphs.hasSource(Executable))
    return Launch;
  for (size_t Place = 0; Place < Copy.Nodes.size(); ++Place) {
    const auto *Kernel = std::get_if<KernelWork>(&Copy.Nodes[Place].Work);
    // The driver gives no handle for a node of a child graph in an executable one. Nobody knows
    // which record is that of a kernel that the device launches, too.
    if (!Kernel || Kernel->Packed || !Copy.Nodes[Place].Enabled || Copy.isOfChild(Place) ||
        Copy.InBodies.count(Kernel->Name))
      continue;
    std::vector<void *> Values = valuesOf(*Kernel);
    CUlaunchConfig Config = Kernel->Config;
    Config.hStream = Stream;
    Config.attrs = const_cast<CUlaunchAttribute *>(Kernel->Attributes.data());
    Config.numAttrs = unsigned(Kernel->Attributes.size());
    cuLaunchKernelEx_params Params{&Config, Kernel->Handle, Values.data(), nullptr};
    auto Node = LaunchCall::decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, &Params);
    auto To = Variants.next(*Node, Call.context, Call.correlationId);
    if (!To)
      continue;
    Launch.Nodes.push_back({Place, *To});
    CUresult Result = set(Executable, Copy.Nodes[Place], To->Function);
    // In a broken context the program's own call returns the error, too.
    if (Result == CUDA_SUCCESS || breaksContext(Result))
      continue;
    // It is not documented what a refused call leaves in its node.
    restore(Launch);
    Variants.failed(Call.correlationId);
    Variants.refused(*To, errorName(Driver, Result));
    Launch.Nodes.clear();
    break;
  }
  return Launch;
}

/// Gives \p Node the kernel \p Function; the program's own if it is null.
CUresult GraphRotation::set(CUgraphExec Executable, const CopiedNode &Node, CUfunction Function) {
  const auto &Kernel = std::get<KernelWork>(Node.Work);
  std::vector<void *> Values = valuesOf(Kernel);
  CUDA_KERNEL_NODE_PARAMS Params{};
  Params.gridDimX = Kernel.Config.gridDimX;
  Params.gridDimY = Kernel.Config.gridDimY;
  Params.gridDimZ = Kernel.Config.gridDimZ;
  Params.blockDimX = Kernel.Config.blockDimX;
  Params.blockDimY = Kernel.Config.blockDimY;
  Params.blockDimZ = Kernel.Config.blockDimZ;
  Params.sharedMemBytes = Kernel.Config.sharedMemBytes;
  Params.kernelParams = Values.data();
  if (!Function && Kernel.IsCUkernel) {
    Params.kern = reinterpret_cast<CUkernel>(Kernel.Handle);
    Params.ctx = Kernel.Context;
  } else {
    Params.func = Function ? Function : Kernel.Handle;
  }
  auto Source = Graphs.holdSource(Executable);
  // Without its graph the node has no handle any more.
  return Source.owns_lock() ? Driver.GraphExecKernelNodeSetParams(Executable, Node.Handle, &Params)
                            : CUDA_ERROR_INVALID_HANDLE;
}

/// Gives the nodes of \p Launch the program's own kernels.
void GraphRotation::restore(const ExchangedLaunch &Launch) {
  for (const ExchangedLaunch::Node &Each : Launch.Nodes) {
    CUresult Result = set(Launch.Executable, Launch.Graph->Nodes[Each.Place], /*Function=*/nullptr);
    if (Result != CUDA_SUCCESS && !breaksContext(Result))
      Dog.fail(Each.Now.Kernel, Each.Now.Variant,
               "could not be taken out of a graph: " + errorName(Driver, Result));
  }
}

void GraphRotation::putBack(const ExchangedLaunch &Launch, const CUpti_CallbackData &Call) {
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  if (Result && *Result != CUDA_SUCCESS) {
    Variants.failed(Call.correlationId);
    // Otherwise the program would see an error that is not its own.
    if (!Launch.Nodes.empty() && !breaksContext(*Result))
      Dog.fail(Launch.Nodes.front().Now.Kernel, Launch.Nodes.front().Now.Variant,
               errorName(Driver, *Result));
  }
  restore(Launch);
}
