#include "Fleet/FleetCommand.h"

#include "Fleet/FleetMerge.h"
#include "Fleet/FleetReport.h"
#include "Fleet/JobScript.h"
#include "Fleet/PlanFolder.h"
#include "Fleet/ShardRun.h"
#include "Report/Terminal.h"
#include "Store/StaleOutputs.h"
#include "Store/StoreFolder.h"
#include "Support/Clock.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Log.h"
#include "Support/OwnFile.h"
#include "Tune/PlacedRequest.h"
#include "Tune/TuneDecisions.h"
#include "Tune/TunedWorkload.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace carve;

namespace {

/// The command line.
struct FleetWords {
  TuneRequest Tuning = requestToTune(); ///< Only to check the tuning's options.
  std::vector<std::string> Words, Command, Captures;
  std::string Folder, Template, Stdin, Profile;
  unsigned Shards = 0, Agree = 2, ProgramNodes = 0;
  bool Json = false, Quiet = false;
};

Flags fleetFlags(FleetWords &W) {
  Flags F("carve fleet");
  F.form("plan [options] -o FOLDER [IN-FOLDER...] -- COMMAND...",
         "share a tuning out over many nodes, by Slurm");
  F.form("plan [options] -o FOLDER --from CAPTURE...",
         "the same with captured launches instead of a program");
  F.form("run [--quiet] FOLDER/shard-N", "tune one shard on this node, unless it has done so");
  F.form("merge [options] FOLDER", "decide by the results of all nodes");
  F.arguments("plan|run|merge", W.Words, "the step; job.sh in the plan's folder does the second");
  F.behind("COMMAND...", W.Command, "with plan: the program to run, and its arguments");
  F.text("-o", "FOLDER", W.Folder, "with plan: the new folder, which all nodes must see");
  F.list("--from", "CAPTURE", W.Captures, "with plan: tune this captured launch");
  F.number("--shards", "N", W.Shards, 1, 1000000, "with plan: shards, at most one for each kernel")
      .Default = "8 for a command, one for each kernel of captures";
  F.number("--agree", "N", W.Agree, 1, 100,
           "with plan: nodes that must find a variant faster before it is accepted");
  F.number("--program-nodes", "N", W.ProgramNodes, 1, 100000,
           "with plan: the command starts its processes itself, such as by srun, on N nodes");
  F.text("--template", "FILE", W.Template, "with plan: make job.sh of this file").Default =
      "share/carve-nvcc/slurm/job.sh.in";
  F.text("--stdin", "FILE", W.Stdin, "with plan: standard input of each run");
  registerTuning(F, "--", valuesOf(W.Tuning));
  F.text("--profile", "FILE", W.Profile, "with merge: write the decisions to this profile too");
  F.choice("--format", {"text", "json"}, W.Json, "with merge: how the result is printed");
  F.flag("--quiet", W.Quiet, "print only errors, and JSON if it is asked for");
  return F;
}

/// Fails if the words after `plan` contradict each other.
llvm::Error checkPlanWords(const FleetWords &W) {
  if (W.Folder.empty())
    return usageError("carve fleet plan: no folder, expected -o FOLDER");
  if (W.Captures.empty() == W.Command.empty())
    return usageError("carve fleet plan: expected either --from CAPTURE... or -- COMMAND...");
  if (!W.Captures.empty() && W.ProgramNodes)
    return usageError("carve fleet plan: --program-nodes is for a command, not for captures");
  if (W.Tuning.Options.Scope != TuningScope::Kernel)
    return usageError("carve fleet plan: --scope is 'file', expected 'kernel': caps for whole "
                      "files cannot be shared out by kernel");
  return llvm::Error::success();
}

llvm::Error makePlan(llvm::ArrayRef<std::string> Args, FleetWords &W,
                     const CommandContext &Context) {
  if (llvm::Error E = checkPlanWords(W))
    return E;
  FleetPlan Plan;
  Plan.Date = utcNow();
  Plan.Directory = normalisedPath(".");
  FleetWords Unused;
  Flags Tuning("");
  registerTuning(Tuning, "--", valuesOf(Unused.Tuning));
  Plan.Options = Tuning.given(Args, Context.Env);
  Plan.Command = W.Command;
  Plan.StdinPath = W.Stdin;
  Plan.Agree = W.Agree;
  Plan.ProgramNodes = W.ProgramNodes;
  // A machine without nvcc can plan; then what most nodes have is expected of all.
  ProcessRunner Runner;
  llvm::Expected<Toolchain> T = toolchainOf(Context);
  llvm::Expected<std::string> Version = T ? nvccVersion(*T, Runner) : T.takeError();
  if (Version)
    Plan.Toolkit = *Version;
  else
    llvm::consumeError(Version.takeError());

  std::string Folder = normalisedPath(W.Folder);
  const std::string TemplatePath = W.Template.empty() ? Context.Install.JobTemplate : W.Template;
  llvm::Expected<std::string> Template = readFileOrPipe(TemplatePath, FileLimit::Record);
  if (!Template)
    return Template.takeError();
  // Results of an older plan would look like finished shards of this one.
  if (llvm::sys::fs::exists(planPath(Folder)) || llvm::sys::fs::exists(shardFolder(Folder, 0)))
    return usageError("carve fleet plan: " + W.Folder +
                      " has a plan already, expected a folder without one");
  if (std::error_code Code = createOwnDirectories(Folder))
    return llvm::createFileError(Folder, Code);
  std::vector<std::string> Rest = llvm::ArrayRef(W.Words).drop_front();
  if (W.Captures.empty()) {
    if (llvm::Error E = takeFolders("carve fleet plan", Rest, {}))
      return E;
    llvm::Expected<std::string> Root = storeFolder(Context.Env);
    if (!Root)
      return Root.takeError();
    if (llvm::Error E = planKernels(UnitStore(*Root), Rest, W.Shards ? W.Shards : 8, Folder, Plan))
      return E;
  } else {
    llvm::append_range(W.Captures, Rest);
    if (llvm::Error E = planCaptures(W.Captures, W.Shards ? W.Shards : 1000000, Plan))
      return E;
  }
  llvm::Expected<std::string> Script =
      jobScript(*Template, TemplatePath, Plan, Folder, Context.OwnPath);
  if (!Script)
    return Script.takeError();
  if (llvm::Error E = writePlan(Plan, *Script, Folder))
    return E;
  if (!W.Quiet)
    llvm::outs() << Plan.Shards.size() << " shard" << (Plan.Shards.size() == 1 ? "" : "s") << " in "
                 << W.Folder << "\n  sbatch " << W.Folder << "/job.sh\n  carve fleet merge "
                 << W.Folder << "\n";
  return llvm::Error::success();
}

llvm::Error tuneShard(const FleetWords &W, const CommandContext &Context) {
  if (W.Words.size() != 2)
    return usageError("carve fleet run: expected one shard: carve fleet run FOLDER/shard-N");
  auto Place = shardOfPath(W.Words[1]);
  if (!Place)
    return Place.takeError();
  const auto &[Folder, Shard] = *Place;
  llvm::Expected<FleetPlan> Plan = readPlan(Folder);
  if (!Plan)
    return Plan.takeError();
  std::string Node = nodeName(Context.Env);
  TerminalProgress Progress(
      {.Program = "carve", .Line = ::isatty(2) && !W.Quiet, .Notes = !W.Quiet});
  auto Result = runShard(*Plan, Folder, Shard, Node, Context, Progress);
  Progress.clear();
  if (!Result)
    return Result.takeError();
  if (W.Quiet)
    return llvm::Error::success();
  llvm::outs() << "shard " << Shard << " on " << Node << ": ";
  if (*Result)
    llvm::outs() << (*Result)->Report.tunedKernels() << " kernels tuned, " << (*Result)->Report.Runs
                 << " runs\n";
  else
    llvm::outs() << "finished already\n";
  return llvm::Error::success();
}

/// Writes the decisions of \p Merged to the profile in \p Folder, to the one that the user names,
/// and to the units that \p Store knows.
llvm::Error keepMerged(const MergedFleet &Merged, const std::string &Folder, const FleetWords &W,
                       UnitStore &Store) {
  if (llvm::Error E = writeFileAtomically(Folder + "/profile.yaml", printProfile(Merged.Decisions)))
    return E;
  if (!W.Profile.empty())
    if (llvm::Error E = adoptIntoProfile(W.Profile, Merged.Decisions))
      return E;
  for (const auto &[Key, Decisions] : Merged.Units) {
    auto Known = Store.unit(Key);
    if (!Known)
      return Known.takeError();
    if (*Known)
      (void)rememberUnit(Store, Key, Decisions);
  }
  return llvm::Error::success();
}

/// Puts into \p Store with which workload the kernels of \p Merged were decided, as a tuning does.
/// A workload that is gone meanwhile is logged.
void rememberMerged(const FleetPlan &Plan, const ReadResults &Read, const MergedFleet &Merged,
                    UnitStore &Store, GetEnv Env) {
  std::vector<std::string> Captures;
  for (const PlannedShard &S : Plan.Shards)
    llvm::append_range(Captures, S.Captures);
  llvm::Expected<TuneRequest> Request = plannedRequest(Plan, {});
  if (!Request) {
    logLine("the workload was not stored: " + llvm::toString(Request.takeError()));
    return;
  }
  Request->Workload.Environment = workloadEnvironment(Env);
  llvm::Expected<TunedWorkload> W =
      Captures.empty() ? llvm::Expected<TunedWorkload>(commandWorkload(Request->Workload))
                       : capturesWorkload(Captures, Plan.Directory);
  if (!W) {
    logLine("the workload was not stored: " + llvm::toString(W.takeError()));
    return;
  }
  W->Date = utcNow();
  W->TimeoutS = Request->Workload.TimeoutS;
  W->Domain = Request->Options.Domain;
  std::map<std::string, const KernelReport *> Reports;
  for (const ShardResult &R : Read.Results)
    for (const KernelReport &K : R.Report.Kernels)
      Reports.emplace(K.Kernel, &K);
  for (const auto &[Key, Decisions] : Merged.Units)
    for (const Decision &D : Decisions.Kernels)
      if (auto Its = Reports.find(D.Kernel); Its != Reports.end())
        W->Kernels.push_back({Key, D.Kernel, Its->second->Mangled,
                              double(Its->second->Launches) * Its->second->MeanNs});
  rememberWorkload(std::move(*W), Store);
}

llvm::Error mergeShards(const FleetWords &W, const CommandContext &Context) {
  if (W.Words.size() != 2)
    return usageError("carve fleet merge: expected one folder: carve fleet merge FOLDER");
  std::string Folder = normalisedPath(W.Words[1]);
  llvm::Expected<FleetPlan> Plan = readPlan(Folder);
  if (!Plan)
    return Plan.takeError();
  llvm::Expected<std::string> Root = storeFolder(Context.Env);
  if (!Root)
    return Root.takeError();
  UnitStore Store = storeAt(*Root, Context.Env);
  const ReadResults Read = readShardResults(Folder, Plan->Shards.size());
  const MergedFleet Merged = mergeFleet(*Plan, Read);
  if (llvm::Error E = keepMerged(Merged, Folder, W, Store))
    return E;
  rememberMerged(*Plan, Read, Merged, Store, Context.Env);
  if (W.Json)
    llvm::outs() << printFleetJson(Merged, *Plan);
  else if (!W.Quiet)
    llvm::outs() << printFleetText(Merged, *Plan, W.Words[1])
                 << rebuildAdvice(staleOutputs(Store, {}));
  if (!Merged.complete())
    return malformed(whatIsMissing(Merged));
  return llvm::Error::success();
}

} // namespace

llvm::Error carve::runFleet(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  FleetWords W;
  if (llvm::Error E = fleetFlags(W).parse(Args, Context.Env))
    return E;
  llvm::StringRef Step = W.Words.empty() ? llvm::StringRef() : llvm::StringRef(W.Words.front());
  if (Step == "plan")
    return makePlan(Args, W, Context);
  if (Step == "run")
    return tuneShard(W, Context);
  if (Step == "merge")
    return mergeShards(W, Context);
  return usageError("carve fleet: " + (Step.empty() ? "no step" : "unknown step '" + Step + "'") +
                    ", expected plan, run or merge");
}
