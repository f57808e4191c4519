#include "Fleet/ShardRun.h"

#include "Captures/File/UnitBundle.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/OwnFile.h"
#include "Tune/CapturedWorkload.h"
#include "Tune/PlacedRequest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <unistd.h>

using namespace carve;

std::string carve::nodeName(GetEnv Env) {
  if (auto Name = Env("SLURMD_NODENAME"); Name && !Name->empty())
    return *Name;
  char Host[256] = {};
  return ::gethostname(Host, sizeof(Host) - 1) == 0 ? Host : "localhost";
}

llvm::Expected<TuneRequest> carve::plannedRequest(const FleetPlan &Plan,
                                                  const PlannedShard &Shard) {
  TuneRequest R = requestToTune();
  Flags F("carve fleet run");
  registerTuning(F, "--", valuesOf(R));
  if (llvm::Error E = F.parse(Plan.Options))
    return E;
  if (!R.SamplesPath.empty())
    R.SamplesPath = normalisedPath(R.SamplesPath, Plan.Directory);
  for (std::string &File : R.Workload.OutputFiles)
    File = normalisedPath(File, Plan.Directory);
  if (!Plan.StdinPath.empty())
    R.Workload.StdinPath = normalisedPath(Plan.StdinPath, Plan.Directory);
  R.Workload.Dir = Plan.Directory;
  R.Workload.Argv = Plan.Command;
  if (!Shard.Kernels.empty())
    R.Options.OnlyKernels.emplace(Shard.Kernels.begin(), Shard.Kernels.end());
  return R;
}

/// Puts what the tuning of \p Shard needs into \p Store, and sets the command if the shard has
/// captures.
static llvm::Error fillStore(const PlannedShard &Shard, llvm::StringRef Folder,
                             const std::string &Launch, UnitStore &Store,
                             std::vector<std::string> &Argv) {
  if (!Shard.Captures.empty())
    return launchCaptures(Shard.Captures, Launch, Store, Argv);
  llvm::Expected<CaptureReader> Units = CaptureReader::open(plannedUnitsPath(Folder));
  return Units ? unbundleUnits(*Units, Store) : Units.takeError();
}

llvm::Expected<std::optional<ShardResult>>
carve::runShard(const FleetPlan &Plan, llvm::StringRef Folder, size_t Shard,
                const std::string &Node, const CommandContext &Context, ProgressDisplay &Progress) {
  if (Shard >= Plan.Shards.size())
    return usageError("carve fleet run: shard " + llvm::Twine(Shard) + ", expected 0 to " +
                      llvm::Twine(Plan.Shards.size() - 1));
  if (llvm::StringRef(Node).contains('/') || llvm::StringRef(Node).starts_with("."))
    return usageError("carve fleet run: the node's name is '" + Node +
                      "', expected one that can be the name of a file");
  std::string Path = shardFolder(Folder, Shard) + "/" + resultName(Node);
  if (llvm::sys::fs::exists(Path))
    return std::nullopt;
  llvm::Expected<TuneRequest> Request = plannedRequest(Plan, Plan.Shards[Shard]);
  if (!Request)
    return Request.takeError();
  if (Request->SamplesPath.empty())
    if (llvm::Error E = needGpu(Context.Env, "a shard times kernels on one"))
      return E;
  llvm::Expected<TempDir> Dir = TempDir::create("fleet");
  if (!Dir)
    return Dir.takeError();
  UnitStore Store(Dir->path() + "/store");
  if (llvm::Error E = fillStore(Plan.Shards[Shard], Folder, Context.Install.Launch, Store,
                                Request->Workload.Argv))
    return E;
  llvm::Expected<Toolchain> T = toolchainOf(Context);
  if (!T)
    return T.takeError();
  ProcessRunner Runner;
  llvm::Expected<std::string> Toolkit = nvccVersion(*T, Runner);
  if (!Toolkit)
    return Toolkit.takeError();
  placeRequest(*Request, *T, Context);
  Request->Progress = &Progress;
  llvm::Expected<TuneResult> Tuned = tune(*Request, Store, *T, Runner);
  if (!Tuned)
    return Tuned.takeError();
  if (!Tuned->Report.Note.empty())
    return unsupported("not tuned", Tuned->Report.Note);
  // Their own shards report on them. With them every result would be as long as the whole plan.
  llvm::erase_if(Tuned->Report.Kernels,
                 [](const KernelReport &K) { return K.Reason == KnownReason::OtherShard; });
  ShardResult Result{Plan.Digest,
                     unsigned(Shard),
                     Node,
                     *Toolkit,
                     std::move(Tuned->Decisions),
                     std::move(Tuned->Report)};
  // If another process of this node was faster, its result stays.
  llvm::Expected<bool> New =
      createOwnFile(Path, printShardResult(Result), std::chrono::system_clock::now());
  if (!New)
    return New.takeError();
  if (!*New)
    return std::nullopt;
  return Result;
}
