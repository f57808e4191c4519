#include "Probe/Capture/LaunchWriter.h"

#include "Protocol/CaptureProtocol.h"
#include "Protocol/CaptureRecords.h"

#include <algorithm>
#include <cstdio>

using namespace carve;
using namespace carve::probe;

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

LaunchWriter::LaunchWriter(const DriverApi &Driver, const CaptureApi &Api,
                           const std::string &Directory, size_t Wish)
    : Folder(Directory, Wish), Driver(Driver), Api(Api), Chunk(CapturedChunkBytes) {}

/// Reads the next chunk of \p From into Chunk, and sets \p Bytes to its size.
Failure LaunchWriter::read(const Part &From, size_t At, size_t &Bytes) {
  Bytes = std::min(Chunk.size(), From.Bytes - At);
  if (Api.MemcpyDtoH(Chunk.data(), From.Base + At, Bytes) == CUDA_SUCCESS)
    return Failure::none();
  return Failure("cannot read the memory at " + addressText(From.Base + At));
}

Failure LaunchWriter::check(const char *Data, size_t Bytes, CUdeviceptr At) const {
  auto Hit = Forbidden.find(Data, Bytes);
  if (!Hit)
    return Failure::none();
  std::string Where = At ? "the memory at " + addressText(At + Hit->Offset) : "a parameter";
  return Failure(Where + " points into " + *Hit->What + " (" + addressText(Hit->Address) + ")");
}

void LaunchWriter::addAttributes(const LaunchCall &Launch, CUfunction Function) {
  auto Add = [&](const char *Name, uint64_t Value) { Folder.add(RawAttribute{Name, Value}); };
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
    // An attribute that was set for the CUkernel need not show in its CUfunction.
    if (Function != *Launch.Slot && HaveDevice && Driver.KernelGetAttribute &&
        Driver.KernelGetAttribute(&OfHandle, Attribute, reinterpret_cast<CUkernel>(*Launch.Slot),
                                  Device) == CUDA_SUCCESS)
      Value = std::max(Value, OfHandle);
    if (Value > 0)
      Add(Name, uint64_t(Value));
  }
  size_t Stack = 0;
  if (Api.CtxGetLimit && Api.CtxGetLimit(&Stack, CU_LIMIT_STACK_SIZE) == CUDA_SUCCESS)
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
    return nullptr; // Another process cannot get such memory again.
  }
}

void LaunchWriter::choose(const std::vector<MemoryRange> &Ranges, CUcontext Context,
                          const CapturedModules::Kernel &Kernel) {
  for (const MemoryRange &R : Ranges) {
    const char *Kind = kindName(R.Kind);
    // Mapped memory belongs to no context.
    if (!Kind || (R.Kind != MemoryKind::Mapped && R.Context != Context)) {
      Forbidden.forbid(R.Base, R.Bytes, describeShared(R.Kind));
      continue;
    }
    Parts.push_back({R.Base, R.Bytes});
    Folder.add(RawRange{R.Base, R.Bytes, Kind});
  }
  for (const VariablePlace &V : Kernel.Variables) {
    Parts.push_back({V.Base, V.Bytes});
    Folder.add(RawVariable{V.Name, V.Bytes});
    Forbidden.forbid(V.Base, V.Bytes, "the variable " + V.Name);
  }
  Forbidden.prepare();
}

/// Reads the bytes of the parameters at their places.
static Failure readParameters(const LaunchCall &Launch, const std::vector<ParameterPlace> &Places,
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
      return Failure("the launch has fewer parameters than the kernel");
  }
  return Failure::none();
}

Failure LaunchWriter::addParameters(const LaunchCall &Launch,
                                    const CapturedModules::Kernel &Kernel) {
  std::vector<std::string> Values;
  if (Failure Why = readParameters(Launch, Kernel.Parameters, Values))
    return Why;
  for (size_t I = 0; I < Values.size(); ++I) {
    if (Failure Why = check(Values[I].data(), Values[I].size(), 0))
      return Why;
    Folder.add(
        RawParameter{Kernel.Parameters[I].Offset, hexOf(Values[I].data(), Values[I].size())});
  }
  return Failure::none();
}

Failure LaunchWriter::addMemory() {
  for (const Part &Each : Parts)
    for (size_t At = 0, Bytes = 0; At < Each.Bytes; At += Bytes) {
      if (Failure Why = read(Each, At, Bytes))
        return Why;
      if (Failure Why = check(Chunk.data(), Bytes, Each.Base + At))
        return Why;
      if (Failure Why = Folder.addMemory(Chunk.data(), Bytes))
        return Why;
    }
  return Failure::none();
}

Failure LaunchWriter::addContainer(const LoadedContainer &C) {
  Folder.add(RawContainer{digestOfImage(C.Data, C.Bytes), C.Bytes, C.Call});
  return Folder.writeContainer(C.Data, C.Bytes);
}

Failure LaunchWriter::addAfter() {
  for (const Part &Each : Parts) {
    RawAfter After;
    for (size_t At = 0, Bytes = 0; At < Each.Bytes; At += Bytes) {
      if (Failure Why = read(Each, At, Bytes))
        return Why;
      After.Digests.push_back(digestOfImage(Chunk.data(), Bytes));
    }
    Folder.add(After);
  }
  return Failure::none();
}
