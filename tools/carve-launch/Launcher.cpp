#include "Launcher.h"

#include "Protocol/CaptureProtocol.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/RegularFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace carve;

char AddressTaken::ID;

/// The driver opens regions at multiples of this address (seen with driver 580). It gives a fixed
/// address that is no such multiple only within a region that is already open.
static constexpr size_t RegionBytes = size_t(32) << 20;

static std::string hexAddress(uint64_t Address) {
  return "0x" + llvm::utohexstr(Address, /*LowerCase=*/true);
}

static CUmemAllocationProp memoryOf(CUdevice Device) {
  CUmemAllocationProp Properties{};
  Properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  Properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  Properties.location.id = Device;
  return Properties;
}

llvm::Error Launcher::makeContext() {
  CUcontext Context = nullptr;
  int Major = 0, Minor = 0;
  char Name[256] = "";
  if (llvm::Error E = Driver.check(Driver.cuInit(0), "cuInit"))
    return E;
  if (llvm::Error E = Driver.check(Driver.cuDeviceGet(&Device, 0), "cuDeviceGet"))
    return E;
  if (llvm::Error E = Driver.check(Driver.cuDevicePrimaryCtxRetain(&Context, Device),
                                   "cannot create a context"))
    return E;
  if (llvm::Error E = Driver.check(Driver.cuCtxSetCurrent(Context), "cuCtxSetCurrent"))
    return E;
  (void)Driver.cuDeviceGetName(Name, sizeof Name, Device);
  (void)Driver.cuDeviceGetAttribute(&Major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, Device);
  (void)Driver.cuDeviceGetAttribute(&Minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, Device);
  std::string Arch = "sm_" + std::to_string(Major) + std::to_string(Minor);
  if (Arch != C.Arch || Name != C.Device)
    Warning =
        "captured on " + C.Device + " (" + C.Arch + "), launched on " + Name + " (" + Arch + ")";
  return llvm::Error::success();
}

/// Returns the captured ranges. Each is widened to whole pages of the driver, and ranges that then
/// touch are joined.
llvm::Expected<std::vector<Launcher::Mapping>> Launcher::mappings() const {
  CUmemAllocationProp Properties = memoryOf(Device);
  size_t Page = 0;
  if (llvm::Error E = Driver.check(Driver.cuMemGetAllocationGranularity(
                                       &Page, &Properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                                   "cuMemGetAllocationGranularity"))
    return E;
  std::vector<Mapping> Result;
  for (const CapturedMemory &M : C.Memory) {
    CUdeviceptr Base = llvm::alignDown(M.Address, Page);
    CUdeviceptr End = llvm::alignTo(M.Address + M.Content.Bytes, Page);
    if (!Result.empty() && Base <= Result.back().Base + Result.back().Bytes)
      Result.back().Bytes = std::max(Result.back().Bytes, size_t(End - Result.back().Base));
    else
      Result.push_back({Base, size_t(End - Base)});
  }
  return Result;
}

/// Reserves the addresses of each mapping by itself. The driver gives such addresses if they lie in
/// a region that it has already opened, which is so if it has placed its regions as in the captured
/// process. Returns false, with nothing reserved, if it does not give all of them.
bool Launcher::reserveExactly(llvm::ArrayRef<Mapping> Group) {
  std::vector<Mapping> Got;
  for (const Mapping &M : Group) {
    CUdeviceptr Given = 0;
    if (Driver.cuMemAddressReserve(&Given, M.Bytes, 0, M.Base, 0) != CUDA_SUCCESS)
      break;
    Got.push_back({Given, M.Bytes});
    if (Given != M.Base)
      break;
  }
  if (Got.size() == Group.size() && Got.back().Base == Group.back().Base)
    return true;
  for (const Mapping &M : Got)
    (void)Driver.cuMemAddressFree(M.Base, M.Bytes);
  return false;
}

/// Reserves the addresses of all mappings in \p Group, which share regions.
llvm::Error Launcher::reserve(llvm::ArrayRef<Mapping> Group) {
  if (reserveExactly(Group))
    return llvm::Error::success();
  CUdeviceptr Base = llvm::alignDown(Group.front().Base, RegionBytes), Given = 0;
  size_t Bytes = llvm::alignTo(Group.back().Base + Group.back().Bytes, RegionBytes) - Base;
  CUresult Result = Driver.cuMemAddressReserve(&Given, Bytes, 0, Base, 0);
  if (Result == CUDA_SUCCESS && Given == Base)
    return llvm::Error::success();
  std::string Why = Result == CUDA_SUCCESS
                        ? "the driver gave " + hexAddress(Given)
                        : llvm::toString(Driver.check(Result, "the driver answered"));
  if (Result == CUDA_SUCCESS)
    (void)Driver.cuMemAddressFree(Given, Bytes);
  return llvm::make_error<AddressTaken>("cannot reserve the captured addresses, " +
                                        llvm::utostr(Bytes >> 10) + " KiB at " + hexAddress(Base) +
                                        ": " + Why);
}

/// Allocates memory and maps it at the reserved addresses of \p M.
llvm::Error Launcher::map(const Mapping &M) {
  std::string Where = llvm::utostr(M.Bytes >> 10) + " KiB at " + hexAddress(M.Base);
  CUmemAllocationProp Properties = memoryOf(Device);
  CUmemGenericAllocationHandle Handle = 0;
  if (llvm::Error E = Driver.check(Driver.cuMemCreate(&Handle, M.Bytes, &Properties, 0),
                                   "cannot allocate " + Where))
    return E;
  if (llvm::Error E =
          Driver.check(Driver.cuMemMap(M.Base, M.Bytes, 0, Handle, 0), "cannot map " + Where))
    return E;
  CUmemAccessDesc Access{};
  Access.location = Properties.location;
  Access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  if (llvm::Error E = Driver.check(Driver.cuMemSetAccess(M.Base, M.Bytes, &Access, 1),
                                   "cannot give access to " + Where))
    return E;
  return Driver.check(Driver.cuMemsetD8(M.Base, 0, M.Bytes), "cannot clear " + Where);
}

/// Uses the call with which the program loaded it, so that the probe sees the same call as in the
/// program.
llvm::Error Launcher::loadModule() {
  llvm::Expected<std::string> Bytes = Reader.all(C.Container, "the container", FileLimit::Object);
  if (!Bytes)
    return Bytes.takeError();
  Container = std::move(*Bytes);
  if (digestOf(Container) != C.ContainerDigest)
    return malformed("the container has the digest " + digestOf(Container) + ", expected " +
                     C.ContainerDigest);
  if (llvm::StringRef(C.LoadCall).starts_with("cuLibrary")) {
    CUkernel Kernel = nullptr;
    if (llvm::Error E = Driver.check(Driver.cuLibraryLoadData(&Library, Container.data(), nullptr,
                                                              nullptr, 0, nullptr, nullptr, 0),
                                     "cannot load the container"))
      return E;
    CUresult Found = Driver.cuLibraryGetKernel(&Kernel, Library, C.Kernel.c_str());
    Function = reinterpret_cast<CUfunction>(Kernel);
    return Driver.check(Found, "no kernel " + C.Kernel);
  }
  if (llvm::Error E = Driver.check(Driver.cuModuleLoadData(&Module, Container.data()),
                                   "cannot load the container"))
    return E;
  return Driver.check(Driver.cuModuleGetFunction(&Function, Module, C.Kernel.c_str()),
                      "no kernel " + C.Kernel);
}

llvm::Error Launcher::findVariables() {
  for (const CapturedVariable &V : C.Variables) {
    size_t Bytes = 0;
    CUdeviceptr At = 0;
    CUresult Found = Library ? Driver.cuLibraryGetGlobal(&At, &Bytes, Library, V.Name.c_str())
                             : Driver.cuModuleGetGlobal(&At, &Bytes, Module, V.Name.c_str());
    if (llvm::Error E = Driver.check(Found, "no variable " + V.Name))
      return E;
    if (Bytes != V.Content.Bytes)
      return malformed("the variable " + V.Name + " has " + llvm::Twine(Bytes) +
                       " bytes, expected " + llvm::Twine(V.Content.Bytes));
    Variables.push_back(At);
  }
  return llvm::Error::success();
}

llvm::Error Launcher::setAttributes() {
  using namespace probe;
  const std::pair<const char *, CUfunction_attribute> OfKernel[] = {
      {MaxDynamicSmemAttribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES},
      {KernelCarveOutAttribute, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT},
      {NonPortableClusterAttribute, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED}};
  for (auto [Name, Attribute] : OfKernel) {
    auto Found = C.Attributes.find(Name);
    if (Found == C.Attributes.end())
      continue;
    CUresult Set = Library
                       ? Driver.cuKernelSetAttribute(Attribute, int(Found->second),
                                                     reinterpret_cast<CUkernel>(Function), Device)
                       : Driver.cuFuncSetAttribute(Function, Attribute, int(Found->second));
    if (llvm::Error E = Driver.check(Set, llvm::Twine("cannot set ") + Name))
      return E;
  }
  if (auto Found = C.Attributes.find(StackAttribute); Found != C.Attributes.end())
    if (llvm::Error E = Driver.check(Driver.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, Found->second),
                                     "cannot set the stack's size"))
      return E;
  auto Add = [&](CUlaunchAttributeID Id) -> CUlaunchAttributeValue & {
    CUlaunchAttribute &A = LaunchAttributes.emplace_back();
    A.id = Id;
    return A.value;
  };
  if (C.Cooperative)
    Add(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative = 1;
  if (C.Shape.hasCluster()) {
    CUlaunchAttributeValue &V = Add(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
    V.clusterDim = {C.Shape.Cluster[0], C.Shape.Cluster[1], C.Shape.Cluster[2]};
  }
  if (auto Found = C.Attributes.find(ClusterPolicyAttribute); Found != C.Attributes.end())
    Add(CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
        .clusterSchedulingPolicyPreference = CUclusterSchedulingPolicy(Found->second);
  if (auto Found = C.Attributes.find(CarveOutAttribute); Found != C.Attributes.end())
    Add(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT).sharedMemCarveout =
        unsigned(Found->second);
  return llvm::Error::success();
}

llvm::Error Launcher::prepare() {
  if (llvm::Error E = makeContext())
    return E;
  // This comes before anything else that takes addresses.
  llvm::Expected<std::vector<Mapping>> All = mappings();
  if (!All)
    return All.takeError();
  for (llvm::ArrayRef<Mapping> Rest = *All; !Rest.empty();) {
    auto End = [](const Mapping &M) { return llvm::alignTo(M.Base + M.Bytes, RegionBytes); };
    size_t N = 1;
    while (N < Rest.size() && llvm::alignDown(Rest[N].Base, RegionBytes) < End(Rest[N - 1]))
      ++N;
    if (llvm::Error E = reserve(Rest.take_front(N)))
      return E;
    Rest = Rest.drop_front(N);
  }
  for (const Mapping &M : *All)
    if (llvm::Error E = map(M))
      return E;
  if (llvm::Error E = loadModule())
    return E;
  if (llvm::Error E = findVariables())
    return E;
  return setAttributes();
}

llvm::Error Launcher::upload(CUdeviceptr To, const CapturedBytes &From, const llvm::Twine &What) {
  std::string Name = What.str();
  for (size_t I = 0; I < From.Chunks.size(); ++I) {
    CUdeviceptr At = To + I * CaptureChunkBytes;
    if (From.Chunks[I] == 0) {
      if (llvm::Error E = Driver.check(Driver.cuMemsetD8(At, 0, chunkBytes(From, I)), Name))
        return E;
      continue;
    }
    llvm::Expected<std::string> Bytes = Reader.chunk(From, I, Name);
    if (!Bytes)
      return Bytes.takeError();
    if (llvm::Error E = Driver.check(Driver.cuMemcpyHtoD(At, Bytes->data(), Bytes->size()), Name))
      return E;
  }
  return llvm::Error::success();
}

llvm::Error Launcher::launch() {
  std::vector<std::string> Values;
  std::vector<void *> Parameters;
  for (const CapturedParameter &P : C.Parameters)
    Values.push_back(P.Bytes);
  for (std::string &V : Values)
    Parameters.push_back(V.data());
  CUlaunchConfig Config{};
  Config.gridDimX = C.Shape.Grid[0];
  Config.gridDimY = C.Shape.Grid[1];
  Config.gridDimZ = C.Shape.Grid[2];
  Config.blockDimX = C.Shape.Block[0];
  Config.blockDimY = C.Shape.Block[1];
  Config.blockDimZ = C.Shape.Block[2];
  Config.sharedMemBytes = C.Shape.DynamicSmemBytes;
  Config.attrs = LaunchAttributes.data();
  Config.numAttrs = unsigned(LaunchAttributes.size());
  if (llvm::Error E =
          Driver.check(Driver.cuLaunchKernelEx(&Config, Function, Parameters.data(), nullptr),
                       "cannot launch the kernel"))
    return E;
  return Driver.check(Driver.cuCtxSynchronize(), "the kernel failed");
}

llvm::Error Launcher::run() {
  for (const CapturedMemory &M : C.Memory)
    if (llvm::Error E = upload(M.Address, M.Content, "the memory at " + hexAddress(M.Address)))
      return E;
  for (size_t I = 0; I < Variables.size(); ++I)
    if (llvm::Error E =
            upload(Variables[I], C.Variables[I].Content, "the variable " + C.Variables[I].Name))
      return E;
  return launch();
}

llvm::Expected<std::vector<std::string>> Launcher::digests(CUdeviceptr At, uint64_t Bytes) const {
  std::vector<std::string> Result;
  std::string Chunk;
  for (uint64_t Offset = 0; Offset < Bytes; Offset += CaptureChunkBytes) {
    Chunk.resize(std::min(CaptureChunkBytes, Bytes - Offset));
    if (llvm::Error E = Driver.check(Driver.cuMemcpyDtoH(Chunk.data(), At + Offset, Chunk.size()),
                                     "cannot read " + hexAddress(At + Offset)))
      return E;
    Result.push_back(digestOf(Chunk));
  }
  return Result;
}

llvm::Expected<LeftDigests> Launcher::left() const {
  LeftDigests Result;
  auto Add = [&](CUdeviceptr At, uint64_t Bytes) {
    llvm::Expected<std::vector<std::string>> D = digests(At, Bytes);
    if (D)
      Result.push_back(std::move(*D));
    return D.takeError();
  };
  for (const CapturedMemory &M : C.Memory)
    if (llvm::Error E = Add(M.Address, M.Content.Bytes))
      return E;
  for (size_t I = 0; I < Variables.size(); ++I)
    if (llvm::Error E = Add(Variables[I], C.Variables[I].Content.Bytes))
      return E;
  return Result;
}
