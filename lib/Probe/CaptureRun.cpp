#include "Probe/CaptureRun.h"

#include "Probe/CaptureFolder.h"
#include "Probe/CaptureProtocol.h"
#include "Probe/KernelHandles.h"
#include "Probe/PointerScan.h"
#include "Probe/TracedProcess.h"

#include <algorithm>
#include <cstdio>

using namespace carve::probe;

static constexpr std::chrono::milliseconds GateLimit{2000};

namespace {
/// Something whose bytes are captured.
struct Part {
  CUdeviceptr Base = 0;
  size_t Bytes = 0;
};

/// The captured launch that this thread is in, from its entry to its exit.
struct Underway {
  std::unique_ptr<CaptureFolder> Folder;
  std::vector<Part> Parts;
};
} // namespace

static thread_local Underway Mine;

static std::string hexOf(const char *Data, size_t Bytes) {
  std::string Text;
  for (size_t I = 0; I < Bytes; ++I) {
    char Digits[3];
    std::snprintf(Digits, sizeof Digits, "%02x", static_cast<unsigned char>(Data[I]));
    Text += Digits;
  }
  return Text;
}

static std::string addressText(uint64_t Address) {
  char Text[24];
  std::snprintf(Text, sizeof Text, "0x%llx", static_cast<unsigned long long>(Address));
  return Text;
}

std::string carve::probe::startCaptureRun(TracedProcess &P, const char *File) {
  CapturePlan Wanted;
  if (!Wanted.read(File))
    return "capture-plan-unreadable";
  P.Capturing = std::make_unique<CaptureRun>(P, std::move(Wanted));
  return "";
}

CaptureRun::CaptureRun(TracedProcess &P, CapturePlan W)
    : P(P), Wanted(std::move(W)), Memory(&P.Driver), Modules(P.Driver), Seen(Wanted.Wishes.size()) {
  Gated.insert(SubmissionGate::calls().begin(), SubmissionGate::calls().end());
  Launches.insert(LaunchCall::calls().begin(), LaunchCall::calls().end());
  Memories.insert(DeviceMemory::calls().begin(), DeviceMemory::calls().end());
}

CaptureRun::~CaptureRun() = default;

/// Calls whose effect is only counted.
static constexpr CUpti_CallbackId CountedCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuTexObjectCreate,
    CUPTI_DRIVER_TRACE_CBID_cuTexObjectDestroy,
    CUPTI_DRIVER_TRACE_CBID_cuTexRefSetArray,
    CUPTI_DRIVER_TRACE_CBID_cuTexRefSetAddress_v2,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture,
    CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz,
};

std::vector<CUpti_CallbackId> CaptureRun::calls() const {
  std::set<CUpti_CallbackId> All = Gated;
  All.insert(Launches.begin(), Launches.end());
  All.insert(Memories.begin(), Memories.end());
  All.insert(CapturedModules::calls().begin(), CapturedModules::calls().end());
  All.insert(std::begin(CountedCalls), std::end(CountedCalls));
  return {All.begin(), All.end()};
}

void CaptureRun::noteHazards(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  if (Call.callbackSite != CUPTI_API_EXIT || !Result)
    return;
  switch (Id) {
  case CUPTI_DRIVER_TRACE_CBID_cuTexObjectCreate:
  case CUPTI_DRIVER_TRACE_CBID_cuTexRefSetArray:
  case CUPTI_DRIVER_TRACE_CBID_cuTexRefSetAddress_v2:
    Textures += *Result == CUDA_SUCCESS;
    break;
  case CUPTI_DRIVER_TRACE_CBID_cuTexObjectDestroy:
    Textures -= *Result == CUDA_SUCCESS;
    break;
  case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2:
  case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz:
  case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph:
  case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz:
    Captures += *Result == CUDA_SUCCESS;
    break;
  case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture:
  case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz:
    // One that was invalidated ends with an error, too.
    if (Captures > 0)
      --Captures;
    break;
  default:
    break;
  }
}

void CaptureRun::onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  bool Entry = Call.callbackSite == CUPTI_API_ENTER, IsGated = Gated.count(Id);
  if (Entry && IsGated)
    Gate.enter();
  if (Memories.count(Id))
    Memory.note(Id, Call);
  noteHazards(Id, Call);
  Modules.note(Id, Call);
  if (Launches.count(Id) && Call.functionParams)
    Entry ? onLaunch(Id, Call) : onLaunched(Call);
  if (!Entry && IsGated)
    Gate.leave();
}

void CaptureRun::onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Resource) {
  if (Id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
    Memory.dropContext(Resource.context);
  if (Id != CUPTI_CBID_RESOURCE_MODULE_LOADED)
    return;
  auto *Module = static_cast<const CUpti_ModuleResourceData *>(Resource.resourceDescriptor);
  if (Module && Module->pCubin)
    Modules.noteImage(Module->pCubin, Module->cubinSize);
}

size_t CaptureRun::wishOf(const LaunchCall &Launch) {
  const size_t None = Wanted.Wishes.size();
  const char *Name = *Launch.Slot ? kernelName(P.Driver, *Launch.Slot) : nullptr;
  if (!Name)
    return None;
  size_t Found = None;
  std::lock_guard<std::mutex> Guard(Lock);
  for (size_t I = 0; I < None; ++I) {
    const CapturePlan::Wish &W = Wanted.Wishes[I];
    LaunchShape Shape = Launch.Shape;
    // A kernel may demand its cluster itself.
    if (Shape.Cluster == std::array<uint32_t, 3>{1, 1, 1})
      Shape.Cluster = W.Shape.Cluster;
    if (W.Kernel == Name && W.Shape == Shape && Seen[I]++ == W.Launch)
      Found = I;
  }
  return Found;
}

void CaptureRun::onLaunch(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  Mine = {};
  std::optional<LaunchCall> Launch = LaunchCall::decode(Id, Call.functionParams);
  if (!Launch)
    return;
  size_t Index = wishOf(*Launch);
  if (Index == Wanted.Wishes.size())
    return;
  auto Folder = std::make_unique<CaptureFolder>(Wanted.Directory, Index);
  std::string Why = whyNot(*Launch);
  bool Closed = Why.empty() && Gate.close(GateLimit);
  if (Why.empty() && !Closed)
    Why = "other threads' calls were under way";
  if (Why.empty())
    Why = capture(Wanted.Wishes[Index], *Launch, Call, *Folder);
  if (Why.empty()) {
    Mine.Folder = std::move(Folder);
    return;
  }
  Folder->refuse(Why);
  if (Closed)
    Gate.open();
}

std::string CaptureRun::whyNot(const LaunchCall &Launch) const {
  CUstreamCaptureStatus Status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (Captures > 0 || (P.Driver.StreamIsCapturing &&
                       (P.Driver.StreamIsCapturing(Launch.Stream, &Status) != CUDA_SUCCESS ||
                        Status != CU_STREAM_CAPTURE_STATUS_NONE)))
    return "the program was recording a CUDA graph";
  if (Textures > 0)
    return "the program uses textures, which cannot be made again";
  if (Memory.surfaces())
    return "the program uses surfaces, which cannot be made again";
  if (Memory.peers())
    return "memory of one GPU can be reached from another";
  if (!Modules.Api.complete() || !P.Driver.CtxSynchronize)
    return "the driver is too old";
  // What came before has to have ended; the program would wait for it at its next copy, too.
  if (P.Driver.CtxSynchronize() != CUDA_SUCCESS)
    return "the context is broken";
  return "";
}

namespace {
/// Reads, checks and writes everything of one launch.
class Writer {
public:
  Writer(const CapturedModules &Modules, CaptureFolder &Folder) : Modules(Modules), Folder(Folder) {
    Chunk.resize(CapturedChunkBytes);
  }

  PointerScan Forbidden;

  /// The content of \p P to the memory file. Returns why that cannot be.
  std::string add(const Part &P) {
    for (size_t At = 0; At < P.Bytes; At += Chunk.size()) {
      size_t Bytes = std::min(Chunk.size(), P.Bytes - At);
      if (Modules.Api.MemcpyDtoH(Chunk.data(), P.Base + At, Bytes) != CUDA_SUCCESS)
        return "cannot read the memory at " + addressText(P.Base + At);
      if (std::string Why = check(Chunk.data(), Bytes, P.Base + At); !Why.empty())
        return Why;
      if (!Folder.addMemory(Chunk.data(), Bytes))
        return Folder.error();
    }
    return "";
  }

  std::string check(const char *Data, size_t Bytes, CUdeviceptr At) const {
    auto Hit = Forbidden.find(Data, Bytes);
    return Hit ? (At ? "the memory at " + addressText(At + Hit->Offset) : "a parameter") +
                     " points into " + *Hit->What + " (" + addressText(Hit->Address) + ")"
               : "";
  }

private:
  const CapturedModules &Modules;
  CaptureFolder &Folder;
  std::vector<char> Chunk;
};
} // namespace

/// The bytes of the parameters, at their places.
static std::string readParameters(const LaunchCall &Launch,
                                  const std::vector<ParameterPlace> &Places,
                                  std::vector<std::string> &Out) {
  const char *Buffer = nullptr;
  size_t BufferBytes = 0;
  for (void **E = Launch.Extra; E && *E != CU_LAUNCH_PARAM_END; E += 2) {
    if (*E == CU_LAUNCH_PARAM_BUFFER_POINTER)
      Buffer = static_cast<const char *>(E[1]);
    else if (*E == CU_LAUNCH_PARAM_BUFFER_SIZE)
      BufferBytes = *static_cast<const size_t *>(E[1]);
  }
  for (size_t I = 0; I < Places.size(); ++I) {
    const ParameterPlace &Place = Places[I];
    if (Launch.Parameters)
      Out.emplace_back(static_cast<const char *>(Launch.Parameters[I]), Place.Bytes);
    else if (Buffer && Place.Offset + Place.Bytes <= BufferBytes)
      Out.emplace_back(Buffer + Place.Offset, Place.Bytes);
    else
      return "the launch has fewer parameters than the kernel";
  }
  return "";
}

static void addAttributes(const DriverApi &Driver, const CapturedModules &Modules,
                          const LaunchCall &Launch, CUfunction Function, CaptureFolder &Folder) {
  auto Add = [&](const char *Name, uint64_t Value) {
    Folder.addLine({"attribute", Name, std::to_string(Value)});
  };
  for (const CUlaunchAttribute &A : Launch.ownAttributes()) {
    if (A.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
      Add(ClusterPolicyAttribute, A.value.clusterSchedulingPolicyPreference);
    if (A.id == CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
      Add(CarveOutAttribute, A.value.sharedMemCarveout);
  }
  const std::pair<const char *, CUfunction_attribute> OfKernel[] = {
      {MaxDynamicSmemAttribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES},
      {KernelCarveOutAttribute, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT},
      {NonPortableClusterAttribute, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED}};
  CUdevice Device = 0;
  bool HaveDevice = Driver.CtxGetDevice && Driver.CtxGetDevice(&Device) == CUDA_SUCCESS;
  for (auto [Name, Attribute] : OfKernel) {
    int Value = 0, OfHandle = 0;
    if (Driver.FuncGetAttribute(&Value, Attribute, Function) != CUDA_SUCCESS)
      continue;
    // What was set for the CUkernel need not show in its CUfunction.
    if (Function != *Launch.Slot && HaveDevice && Driver.KernelGetAttribute &&
        Driver.KernelGetAttribute(&OfHandle, Attribute, reinterpret_cast<CUkernel>(*Launch.Slot),
                                  Device) == CUDA_SUCCESS)
      Value = std::max(Value, OfHandle);
    if (Value > 0)
      Add(Name, uint64_t(Value));
  }
  size_t Stack = 0;
  if (Modules.Api.CtxGetLimit &&
      Modules.Api.CtxGetLimit(&Stack, CU_LIMIT_STACK_SIZE) == CUDA_SUCCESS)
    Add(StackAttribute, Stack);
}

static const char *kindName(MemoryKind Kind) {
  switch (Kind) {
  case MemoryKind::Device:
    return "device";
  case MemoryKind::Pool:
    return "pool";
  case MemoryKind::Mapped:
    return "mapped";
  default:
    return nullptr; // Cannot be had again in another process.
  }
}

std::string CaptureRun::capture(const CapturePlan::Wish &Wish, const LaunchCall &Launch,
                                const CUpti_CallbackData &Call, CaptureFolder &Folder) {
  // Calls of other threads may have come in before the gate closed.
  if (P.Driver.CtxSynchronize() != CUDA_SUCCESS)
    return "the context is broken";
  CapturedModules::Kernel Kernel;
  if (std::string Why = Modules.find(*Launch.Slot, Kernel); !Why.empty())
    return Why;
  if (!Folder.create())
    return Folder.error();
  Folder.addText(shapeRecord("kernel", Wish.Kernel, Launch.Shape,
                             {Launch.Cooperative ? "1" : "0", std::to_string(Wish.Launch)}));
  addAttributes(P.Driver, Modules, Launch, Kernel.Function, Folder);

  Writer W(Modules, Folder);
  for (const MemoryRange &R : Memory.ranges()) {
    const char *Kind = kindName(R.Kind);
    // Mapped memory is of no context.
    bool Own = Kind && (R.Kind == MemoryKind::Mapped || R.Context == Call.context);
    if (Own) {
      Mine.Parts.push_back({R.Base, R.Bytes});
      Folder.addLine({"range", std::to_string(R.Base), std::to_string(R.Bytes), Kind});
    } else {
      W.Forbidden.forbid(R.Base, R.Bytes,
                         R.Kind == MemoryKind::Managed ? "managed memory"
                         : R.Kind == MemoryKind::Host  ? "host memory"
                                                       : "memory that is not this context's alone");
    }
  }
  for (const VariablePlace &V : Kernel.Variables) {
    Mine.Parts.push_back({V.Base, V.Bytes});
    Folder.addLine({"variable", V.Name, std::to_string(V.Bytes)});
    W.Forbidden.forbid(V.Base, V.Bytes, "the variable " + V.Name);
  }
  W.Forbidden.prepare();
  std::vector<std::string> Parameters;
  if (std::string Why = readParameters(Launch, Kernel.Parameters, Parameters); !Why.empty())
    return Why;
  for (size_t I = 0; I < Parameters.size(); ++I) {
    if (std::string Why = W.check(Parameters[I].data(), Parameters[I].size(), 0); !Why.empty())
      return Why;
    Folder.addLine({"parameter", std::to_string(Kernel.Parameters[I].Offset),
                    hexOf(Parameters[I].data(), Parameters[I].size())});
  }
  for (const Part &Each : Mine.Parts)
    if (std::string Why = W.add(Each); !Why.empty())
      return Why;
  const LoadedContainer &C = *Kernel.Container;
  Folder.addLine({"container", digestOfImage(C.Data, C.Bytes), std::to_string(C.Bytes), C.Call});
  return Folder.writeContainer(C.Data, C.Bytes) ? "" : Folder.error();
}

/// The digests of what the launch left. Returns why they cannot be had.
static std::string addAfter(const CapturedModules &Modules, const std::vector<Part> &Parts,
                            CaptureFolder &Folder) {
  std::vector<char> Chunk(CapturedChunkBytes);
  for (const Part &Each : Parts) {
    std::string Line = "after";
    for (size_t At = 0; At < Each.Bytes; At += Chunk.size()) {
      size_t Bytes = std::min(Chunk.size(), Each.Bytes - At);
      if (Modules.Api.MemcpyDtoH(Chunk.data(), Each.Base + At, Bytes) != CUDA_SUCCESS)
        return "cannot read the memory at " + addressText(Each.Base + At);
      Line += "\t" + digestOfImage(Chunk.data(), Bytes);
    }
    Folder.addText(Line + "\n");
  }
  return "";
}

void CaptureRun::onLaunched(const CUpti_CallbackData &Call) {
  std::unique_ptr<CaptureFolder> Folder = std::move(Mine.Folder);
  if (!Folder)
    return;
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  std::string Why;
  if (Result && *Result != CUDA_SUCCESS)
    Why = "the driver refused the launch";
  else if (P.Driver.CtxSynchronize() != CUDA_SUCCESS)
    Why = "the kernel failed";
  else
    Why = addAfter(Modules, Mine.Parts, *Folder);
  if (Why.empty() && !Folder->complete())
    Why = Folder->error();
  if (!Why.empty())
    Folder->refuse(Why);
  Mine = {};
  Gate.open();
}
