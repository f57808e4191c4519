#include "Probe/Replay/KernelHandles.h"

#include "Probe/Driver/Allocations.h"
#include "Probe/Driver/KernelSignature.h"
#include "Probe/Driver/ScalarKey.h"
#include "Probe/Driver/StreamCaptures.h"

#include <algorithm>

using namespace carve;
using namespace carve::probe;

LaunchShape ResolvedKernel::shapeOf(const LaunchCall &Call) const {
  LaunchShape Shape = Call.Shape;
  if (Shape.Cluster == std::array<uint32_t, 3>{1, 1, 1})
    Shape.Cluster = Cluster;
  return Shape;
}

LaunchShape ResolvedKernel::inClass(const LaunchShape &Shape, const LaunchCall &Call) const {
  if (!Planned->isDivided(Shape))
    return Shape;
  bool Readable = ParameterBytes && !Call.Extra && (Call.Parameters || ParameterBytes->empty());
  return Planned->inClass(Shape, Readable ? scalarKey(*ParameterBytes, Call.Parameters) : 0);
}

const void *ResolvedKernel::argumentAt(const LaunchCall &Call, unsigned Parameter, unsigned Offset,
                                       unsigned Bytes) const {
  bool IsThere = ParameterBytes && Call.Parameters && !Call.Extra &&
                 Parameter < ParameterBytes->size() &&
                 uint64_t(Offset) + Bytes <= (*ParameterBytes)[Parameter];
  return IsThere ? static_cast<const char *>(Call.Parameters[Parameter]) + Offset : nullptr;
}

/// Returns whether the addresses of \p Call that \p Guard names lead into different allocations.
/// The driver is asked once for each launch.
bool ResolvedKernel::areApart(const PlannedKernel::Guard &Guard, const LaunchCall &Call) const {
  for (const auto &[Before, Apart] : Call.Asked)
    if (Before == &Guard)
      return Apart;
  std::vector<std::pair<uint64_t, Allocation>> Seen;
  bool Apart = std::all_of(Guard.Apart.begin(), Guard.Apart.end(), [&](const GuardedPointer &P) {
    const void *At = argumentAt(Call, P.Parameter, P.Offset, sizeof(uint64_t));
    uint64_t Address = At ? argumentBits(At, sizeof(uint64_t)) : 0;
    Allocation Its = allocationAt(*Driver, Address);
    bool IsApart = Its && std::all_of(Seen.begin(), Seen.end(), [&](const auto &Other) {
                     return probe::areApart(Address, Its, Other.first, Other.second);
                   });
    Seen.emplace_back(Address, Its);
    return IsApart;
  });
  Call.Asked.emplace_back(&Guard, Apart);
  return Apart;
}

/// Returns whether the guard with the number \p Guard holds at \p Call.
bool ResolvedKernel::holds(unsigned Guard, const LaunchCall &Call) const {
  if (Guard == 0)
    return true;
  const PlannedKernel::Guard &Its = Planned->Guards.at(Guard);
  return Its.allows(Call.Shape) &&
         std::all_of(Its.Values.begin(), Its.Values.end(),
                     [&](const GuardRecord &Value) {
                       const void *At =
                           argumentAt(Call, Value.Parameter, Value.Offset, Value.Bytes);
                       return At && argumentBits(At, Value.Bytes) == Value.Bits;
                     }) &&
         (Its.Apart.empty() || areApart(Its, Call));
}

bool ResolvedKernel::mayRun(size_t Variant, const LaunchCall &Call) const {
  const std::vector<PlannedKernel::Variant> &All = Planned->Variants;
  auto IsBetter = [&](const PlannedKernel::Variant &Before) {
    return Before.Name == All[Variant].Name && holds(Before.Guard, Call);
  };
  return holds(All[Variant].Guard, Call) &&
         std::none_of(All.begin(), All.begin() + Variant, IsBetter);
}

void KernelHandles::note(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  Roles Means = rolesOf(Id);
  if (Means.any(Role::Unloads))
    return forget();
  if (!Means.any(Role::SetsAttribute) || Call.callbackSite != CUPTI_API_EXIT)
    return;
  switch (Id) {
  case CUPTI_DRIVER_TRACE_CBID_cuFuncSetCacheConfig:
  case CUPTI_DRIVER_TRACE_CBID_cuKernelSetCacheConfig: {
    // The structures of both calls begin with the handle and the preference.
    auto *P = static_cast<const cuFuncSetCacheConfig_params *>(Call.functionParams);
    std::lock_guard<std::mutex> Guard(Lock);
    dropStale();
    CacheConfigs[P->hfunc] = P->config;
    break;
  }
  default:
    break;
  }
  ++Attributes;
}

/// Must be called under the lock, before anything is looked up or added.
void KernelHandles::dropStale() {
  if (!Stale.exchange(false))
    return;
  Known.clear();
  CacheConfigs.clear();
}

std::shared_ptr<ResolvedKernel> KernelHandles::find(CUfunction Handle, CUcontext Context) {
  std::lock_guard<std::mutex> Guard(Lock);
  dropStale();
  auto [It, New] = Known.try_emplace({Handle, Context});
  if (New)
    It->second = resolve(Handle);
  ResolvedKernel *Kernel = It->second.get();
  if (Kernel && Kernel->SyncedAt != Attributes)
    copyAttributes(*Kernel);
  return It->second;
}

std::shared_ptr<ResolvedKernel> KernelHandles::resolve(CUfunction Handle) {
  const char *Name = Handle ? kernelName(Driver, Handle) : nullptr;
  const PlannedKernel *Planned = Name ? Wanted.find(Name) : nullptr;
  if (!Planned)
    return nullptr;
  CaptureRelaxed Relaxed(Driver);
  auto Kernel = std::make_shared<ResolvedKernel>();
  Kernel->Planned = Planned;
  Kernel->Driver = &Driver;
  Kernel->Handle = Handle;
  Kernel->Variants.assign(Planned->Variants.size(), nullptr);
  Kernel->Variants[0] = Handle;
  if (!resolveFunction(*Kernel) && !resolveKernel(*Kernel))
    return nullptr;
  bool AnyClone = std::any_of(Kernel->Variants.begin() + 1, Kernel->Variants.end(),
                              [](CUfunction F) { return F != nullptr; });
  if (!AnyClone)
    return nullptr;
  static constexpr CUfunction_attribute Widths[] = {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
                                                    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
                                                    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH};
  for (size_t I = 0; I < 3; ++I) {
    int Width = 0;
    if (Driver.FuncGetAttribute(&Width, Widths[I], Kernel->Function) == CUDA_SUCCESS && Width > 0)
      Kernel->Cluster[I] = uint32_t(Width);
  }
  Kernel->ParameterBytes = parameterBytes(Driver, Kernel->Function);
  return Kernel;
}

bool KernelHandles::resolveFunction(ResolvedKernel &Kernel) {
  CUmodule Module = moduleOfFunction(Driver, Kernel.Handle);
  if (!Module)
    return false;
  Kernel.Function = Kernel.Handle;
  for (size_t V = 1; V < Kernel.Variants.size(); ++V)
    if (Driver.ModuleGetFunction(&Kernel.Variants[V], Module,
                                 Kernel.Planned->Variants[V].Clone.c_str()) != CUDA_SUCCESS)
      Kernel.Variants[V] = nullptr;
  return true;
}

bool KernelHandles::resolveKernel(ResolvedKernel &Kernel) {
  auto Handle = reinterpret_cast<CUkernel>(Kernel.Handle);
  CUlibrary Library = nullptr;
  if (!Driver.KernelGetLibrary || !Driver.LibraryGetKernel || !Driver.KernelGetFunction ||
      Driver.KernelGetFunction(&Kernel.Function, Handle) != CUDA_SUCCESS ||
      Driver.KernelGetLibrary(&Library, Handle) != CUDA_SUCCESS)
    return false;
  for (size_t V = 1; V < Kernel.Variants.size(); ++V) {
    CUkernel Clone = nullptr;
    // This is the clone's CUfunction of this context. Attributes are set for it and for no other
    // context.
    if (Driver.LibraryGetKernel(&Clone, Library, Kernel.Planned->Variants[V].Clone.c_str()) !=
            CUDA_SUCCESS ||
        Driver.KernelGetFunction(&Kernel.Variants[V], Clone) != CUDA_SUCCESS)
      Kernel.Variants[V] = nullptr;
  }
  return true;
}

void KernelHandles::copyAttributes(ResolvedKernel &Kernel) {
  CaptureRelaxed Relaxed(Driver);
  Kernel.SyncedAt = Attributes;
  Kernel.Unset.clear();
  Kernel.Refusals.clear();
  static constexpr CUfunction_attribute Copied[] = {
      CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
      CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
      CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
      CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
      // The program may set a cluster if the code does not demand one.
      CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
      CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
      CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH,
  };
  CUdevice Device = 0;
  bool HaveDevice = Driver.CtxGetDevice(&Device) == CUDA_SUCCESS;
  for (CUfunction_attribute Attribute : Copied) {
    int Wanted = 0, OfKernel = 0;
    if (Driver.FuncGetAttribute(&Wanted, Attribute, Kernel.Function) != CUDA_SUCCESS)
      continue;
    // An attribute that was set for the CUkernel need not show in its CUfunction.
    if (Kernel.Function != Kernel.Handle && HaveDevice && Driver.KernelGetAttribute &&
        Driver.KernelGetAttribute(&OfKernel, Attribute, reinterpret_cast<CUkernel>(Kernel.Handle),
                                  Device) == CUDA_SUCCESS)
      Wanted = std::max(Wanted, OfKernel);
    for (size_t V = 1; V < Kernel.Variants.size(); ++V) {
      int Has = 0;
      if (!Kernel.Variants[V] ||
          Driver.FuncGetAttribute(&Has, Attribute, Kernel.Variants[V]) != CUDA_SUCCESS ||
          Has == Wanted)
        continue;
      if (Driver.FuncSetAttribute(Kernel.Variants[V], Attribute, Wanted) != CUDA_SUCCESS)
        Kernel.Unset[V] = "attribute " + std::to_string(Attribute);
    }
  }
  copyCacheConfig(Kernel);
}

void KernelHandles::copyCacheConfig(const ResolvedKernel &Kernel) const {
  auto Cache = CacheConfigs.find(Kernel.Handle);
  if (Cache != CacheConfigs.end() && Driver.FuncSetCacheConfig)
    for (size_t V = 1; V < Kernel.Variants.size(); ++V)
      if (Kernel.Variants[V])
        Driver.FuncSetCacheConfig(Kernel.Variants[V], Cache->second);
}

Failure KernelHandles::refusal(ResolvedKernel &Kernel, size_t Variant, const LaunchCall &Call) {
  if (Variant == 0)
    return Failure::none();
  std::lock_guard<std::mutex> Guard(Lock);
  auto [It, New] = Kernel.Refusals.try_emplace({Call.Shape, Variant}, Failure::none());
  if (New)
    It->second = askRefusal(Kernel, Variant, Call);
  return It->second;
}

Failure KernelHandles::askRefusal(const ResolvedKernel &Kernel, size_t Variant,
                                  const LaunchCall &Call) const {
  CUfunction Function = Kernel.Variants[Variant];
  if (!Function)
    return Failure("not in the module");
  if (auto It = Kernel.Unset.find(Variant); It != Kernel.Unset.end())
    return Failure(It->second);
  int MaxThreads = 0, Blocks = 0;
  uint32_t Threads = Call.Shape.threadsPerBlock();
  if (Driver.FuncGetAttribute(&MaxThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, Function) !=
          CUDA_SUCCESS ||
      uint32_t(MaxThreads) < Threads)
    return Failure("max threads per block " + std::to_string(MaxThreads));
  if (Driver.OccupancyMaxActiveBlocks(&Blocks, Function, int(Threads),
                                      Call.Shape.DynamicSmemBytes) != CUDA_SUCCESS ||
      Blocks < 1)
    return Failure("no block fits");
  if (!Call.Cooperative)
    return Failure::none();
  // All blocks of a cooperative launch must be resident at once.
  CUdevice Device = 0;
  int Multiprocessors = 0;
  const std::array<uint32_t, 3> &Grid = Call.Shape.Grid;
  if (Driver.CtxGetDevice(&Device) != CUDA_SUCCESS ||
      Driver.DeviceGetAttribute(&Multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                                Device) != CUDA_SUCCESS ||
      uint64_t(Grid[0]) * Grid[1] * Grid[2] > uint64_t(Blocks) * uint64_t(Multiprocessors))
    return Failure("cooperative grid too large");
  return Failure::none();
}
