#include "Fleet/PlanFolder.h"

#include "Captures/File/UnitBundle.h"
#include "Store/StaleOutputs.h"
#include "Store/UserProfile.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/OwnFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <set>

using namespace carve;

llvm::Error carve::planCaptures(llvm::ArrayRef<std::string> Files, unsigned Shards,
                                FleetPlan &Plan) {
  std::vector<std::pair<std::string, std::string>> Captures;
  std::set<std::string> Devices;
  for (const std::string &File : Files) {
    llvm::Expected<CaptureReader> Reader = CaptureReader::open(File);
    if (!Reader)
      return Reader.takeError();
    Captures.emplace_back(Reader->capture().Kernel, normalisedPath(File));
    Devices.insert(Reader->capture().Device);
  }
  if (Devices.size() == 1)
    Plan.Device = *Devices.begin();
  Plan.Shards = dealCaptures(std::move(Captures), Shards);
  return llvm::Error::success();
}

/// Returns the containers of the links of \p Store that have a container of \p Units among their
/// inputs.
static std::set<std::string> containersOfLinks(const UnitStore &Store,
                                               const std::set<std::string> &Units) {
  std::set<std::string> Containers;
  for (const DeviceLink &L : Store.links())
    for (const LinkInput &I : L.Inputs)
      if (llvm::any_of(I.Containers, [&](const std::string &C) { return Units.count(C) > 0; }))
        Containers.insert(L.Containers.begin(), L.Containers.end());
  return Containers;
}

llvm::Error carve::planKernels(const UnitStore &Store, llvm::ArrayRef<std::string> Folders,
                               unsigned Shards, llvm::StringRef PlanFolder, FleetPlan &Plan) {
  std::set<std::string> Kernels, Containers;
  for (const Unit &U : Store.units()) {
    if (!isInOneOf(U, Folders))
      continue;
    Containers.insert(U.Containers.begin(), U.Containers.end());
    for (const KernelIdentity &K : kernelsOf(U, Store))
      Kernels.insert(K.Mangled);
  }
  if (Kernels.empty())
    return usageError("carve fleet plan: no unit of the store " + Store.root() +
                      (Folders.empty() ? "" : " in these folders") +
                      " has a kernel, expected that the program was compiled by carve-nvcc");
  Plan.Shards = dealKernels({Kernels.begin(), Kernels.end()}, Shards);
  Containers.merge(containersOfLinks(Store, Containers));
  llvm::Expected<CaptureWriter> W = CaptureWriter::create(plannedUnitsPath(PlanFolder));
  if (!W)
    return W.takeError();
  Capture C;
  bundleUnits(Store, std::vector<std::string>(Containers.begin(), Containers.end()), *W, C);
  return W->finish(C);
}

llvm::Error carve::writePlan(const FleetPlan &Plan, llvm::StringRef JobScript,
                             llvm::StringRef Folder) {
  for (size_t Shard = 0; Shard < Plan.Shards.size(); ++Shard)
    if (std::error_code Code = createOwnDirectories(shardFolder(Folder, Shard)))
      return llvm::createFileError(shardFolder(Folder, Shard), Code);
  std::string Log = (Folder + "/log").str(), Job = (Folder + "/job.sh").str();
  if (std::error_code Code = createOwnDirectories(Log))
    return llvm::createFileError(Log, Code);
  if (llvm::Error E = writeOwnFile(Job, JobScript))
    return E;
  llvm::Expected<bool> New =
      createOwnFile(planPath(Folder), printPlan(Plan), std::chrono::system_clock::now());
  if (!New)
    return New.takeError();
  if (!*New)
    return usageError("carve fleet plan: " + Folder +
                      " has a plan already, expected a folder without one");
  return llvm::Error::success();
}
