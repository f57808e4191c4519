#include "Tune/Job/TuningJob.h"

#include "Nvcc/EmbeddedPtx.h"
#include "Ptx/PtxModule.h"
#include "Support/Error.h"
#include "Support/Log.h"
#include "Tune/Job/DeviceLinks.h"
#include "Tune/Job/JobParts.h"
#include "Tune/Job/KnownLaunches.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace carve;

std::vector<TracedKernel> carve::tracedKernels(const ProbeRecord &Record) {
  std::map<std::string, TracedKernel> ByName;
  std::map<std::string, uint64_t> Ns;
  for (const KernelLaunches &K : Record.Kernels) {
    TracedKernel &T = ByName[K.Kernel];
    T.Kernel = K.Kernel;
    T.Launches += K.Launches;
    T.Shapes.push_back(K);
    Ns[K.Kernel] += K.TotalNs;
  }
  for (const TracedClass &C : Record.Classes)
    if (auto Its = ByName.find(C.Kernel); Its != ByName.end())
      Its->second.Classes.push_back(C);
  for (const TypicalLaunches &L : Record.Typical)
    if (auto Its = ByName.find(L.Kernel); Its != ByName.end())
      Its->second.Typical.push_back(L);
  for (const TracedSegment &S : Record.Segments)
    if (auto Its = ByName.find(S.Kernel); Its != ByName.end())
      Its->second.Segments.push_back(S);
  double Total = std::max<double>(1, Record.totalNs());
  std::vector<TracedKernel> All;
  for (auto &[Name, T] : ByName) {
    T.Share = Ns[Name] / Total;
    if (auto InGraphs = Record.GraphLaunches.find(Name); InGraphs != Record.GraphLaunches.end())
      T.GraphLaunches = InGraphs->second;
    if (auto Its = Record.Arguments.find(Name); Its != Record.Arguments.end())
      T.Arguments = Its->second;
    All.push_back(std::move(T));
  }
  llvm::stable_sort(All, [](const auto &A, const auto &B) { return A.Share > B.Share; });
  return All;
}

llvm::Expected<DeviceModel> carve::modelOf(const DeviceInfo &Device, llvm::StringRef DevicesDir) {
  llvm::Expected<DeviceModel> Model = loadDeviceModel(DevicesDir, Device.arch());
  if (!Model)
    return Model;
  auto Check = [&](const char *What, unsigned &Table, unsigned Driver) {
    if (Table == Driver || Driver == 0)
      return;
    logLine("device table: " + Device.arch() + " " + What + " is " + llvm::Twine(Table) +
            ", the driver says " + llvm::Twine(Driver) + ", which is used");
    Table = Driver;
  };
  Check("threads per SM", Model->MaxThreadsPerSm, Device.ThreadsPerSm);
  Check("blocks per SM", Model->MaxBlocksPerSm, Device.BlocksPerSm);
  Check("registers per SM", Model->RegsPerSm, Device.RegsPerSm);
  Check("registers per block", Model->RegsPerBlock, Device.RegsPerBlock);
  Check("shared memory per SM", Model->SmemPerSmBytes, Device.SmemPerSmBytes);
  Check("shared memory per block", Model->SmemPerBlockBytes, Device.SmemPerBlockBytes);
  Check("opt-in shared memory per block", Model->SmemPerBlockOptinBytes,
        Device.SmemPerBlockOptinBytes);
  Check("reserved shared memory per block", Model->ReservedSmemPerBlockBytes,
        Device.ReservedSmemPerBlockBytes);
  return Model;
}

std::optional<UnitImage> carve::imageForDevice(const Unit &U, const DeviceInfo &Device) {
  unsigned Wanted = Device.Major * 10 + Device.Minor, BestSm = 0;
  const UnitImage *Best = nullptr;
  for (const UnitImage &I : U.Images) {
    unsigned Sm = architectureNumber(I.Arch);
    // A cubin runs on devices of the same major and the same or a newer minor number. If a unit has
    // both the specific image (`sm_90a`) and the plain one, the driver takes the specific one.
    bool Exact = llvm::StringRef(I.Arch).ends_with("a"); // `sm_100a` runs on 10.0 only.
    bool Runs = Exact ? Sm == Wanted : Sm / 10 == Wanted / 10 && Sm <= Wanted;
    if (Runs && (!Best || Sm > BestSm || (Sm == BestSm && I.Arch.size() > Best->Arch.size()))) {
      Best = &I;
      BestSm = Sm;
    }
  }
  if (Best)
    return *Best;
  const EmbeddedPtx *Ptx = nullptr;
  for (const EmbeddedPtx &P : U.Ptx)
    if (P.Compute <= Wanted && (!Ptx || P.Compute > Ptx->Compute))
      Ptx = &P;
  if (!Ptx)
    return std::nullopt;
  UnitImage Derived;
  Derived.Arch = Device.arch();
  Derived.PtxDigest = Ptx->PtxDigest;
  Derived.PtxName = Ptx->PtxName;
  Derived.PtxasOptions = withArchitecture(Ptx->PtxasOptions, Derived.Arch);
  return Derived;
}

/// The device links that the traced program loaded.
static std::vector<DeviceLink> loadedLinks(const ProbeRecord &Trace, const UnitStore &Store,
                                           bool AllUnits) {
  if (AllUnits)
    return Store.links();
  std::map<std::string, DeviceLink> ByKey;
  for (const std::string &Container : Trace.Containers)
    for (DeviceLink &L : Store.linksOfContainer(Container))
      ByKey[L.Key] = std::move(L);
  std::vector<DeviceLink> Links;
  for (auto &[Key, L] : ByKey)
    Links.push_back(std::move(L));
  return Links;
}

/// The units that the traced program loaded, either directly or linked by \p Links.
static std::vector<Unit> loadedUnits(const ProbeRecord &Trace, const UnitStore &Store,
                                     llvm::ArrayRef<DeviceLink> Links, bool AllUnits) {
  if (AllUnits)
    return Store.units();
  std::set<std::string> Containers = Trace.Containers;
  for (const DeviceLink &L : Links)
    for (const LinkInput &I : L.Inputs)
      Containers.insert(I.Containers.begin(), I.Containers.end());
  std::map<std::string, Unit> ByKey;
  for (const std::string &Container : Containers)
    for (Unit &U : Store.unitsOfContainer(Container))
      ByKey[U.Key] = std::move(U);
  std::vector<Unit> Units;
  for (auto &[Key, U] : ByKey)
    Units.push_back(std::move(U));
  return Units;
}

const LaunchShape &carve::heaviestShape(const TracedKernel &Kernel) {
  return llvm::max_element(
             Kernel.Shapes,
             [](const KernelLaunches &A, const KernelLaunches &B) { return A.TotalNs < B.TotalNs; })
      ->Shape;
}

const ParsedModule &JobSources::of(size_t JobModule) const {
  return *llvm::find_if(Modules, [&](const ParsedModule &M) { return M.InJob == JobModule; });
}

llvm::Expected<TuningJob> carve::prepareJob(const ProbeRecord &Trace, const JobContext &Context,
                                            bool AllUnits, JobSources &Sources) {
  if (Trace.Devices.empty())
    return malformed("the trace names no GPU");
  TuningJob Job;
  Job.Device = Trace.Devices.front();
  llvm::Expected<DeviceModel> Model = modelOf(Job.Device, Context.Options.DevicesDir);
  if (!Model)
    return Model.takeError();
  Job.Model = *Model;

  std::vector<DeviceLink> Loaded = loadedLinks(Trace, Context.Store, AllUnits);
  Sources.Modules = parseModules(loadedUnits(Trace, Context.Store, Loaded, AllUnits), Job, Context);
  Sources.Links = parseLinks(std::move(Loaded), Sources.Modules, Job, AllUnits);
  placeKernels(tracedKernels(Trace), Sources.Modules, Job, Context);
  if (llvm::Error E = findRegions(Sources.Modules, Job, Context))
    return E;
  findKnownLaunches(Trace, Sources.Modules, Job, Context);
  findEarlierDecisions(Sources.Modules, Job, Context.Store);
  llvm::stable_sort(Job.Left, [](const LeftKernel &A, const LeftKernel &B) {
    return A.Traced.Share > B.Traced.Share;
  });
  return Job;
}
