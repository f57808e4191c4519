#include "Fleet/FleetPlan.h"

#include "Captures/File/CaptureFile.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/JsonRecord.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace carve;

static constexpr RecordKind PlanRecord = {"plan", "carve-fleet-plan", 1};

namespace carve {

template <class Fields> static void describe(Fields &F, PlannedShard &S) {
  F.ifSet("captures", S.Captures);
  F.ifSet("kernels", S.Kernels);
  F.require([&] { return S.Captures.empty() != S.Kernels.empty(); },
            "expected either captures or kernels");
}

template <class Fields> static void describe(Fields &F, FleetPlan &P) {
  F("date", P.Date);
  F("directory", P.Directory);
  F("options", P.Options);
  F("command", P.Command);
  F.ifSet("stdin", P.StdinPath);
  F("agree", P.Agree);
  F.ifSet("program-nodes", P.ProgramNodes);
  F("toolkit", P.Toolkit);
  F("device", P.Device);
  F("shards", P.Shards);
  F.require([&] { return P.Agree > 0; }, "expected agree to be at least 1");
  F.require([&] { return !P.Shards.empty(); }, "expected at least one shard");
}

} // namespace carve

std::string carve::printPlan(const FleetPlan &Plan) { return printRecord(Plan, PlanRecord); }

llvm::Expected<FleetPlan> carve::readPlan(llvm::StringRef Folder) {
  std::string Path = planPath(Folder);
  llvm::Expected<std::string> Text = readFile(Path, FileLimit::Record);
  if (!Text)
    return Text.takeError();
  llvm::Expected<FleetPlan> Plan = parseRecord<FleetPlan>(*Text, Path, PlanRecord);
  if (Plan)
    Plan->Digest = digestOf(*Text);
  return Plan;
}

std::string carve::planPath(llvm::StringRef Folder) { return (Folder + "/plan.json").str(); }

std::string carve::plannedUnitsPath(llvm::StringRef Folder) {
  return (Folder + "/units" + CaptureSuffix).str();
}

std::string carve::shardFolder(llvm::StringRef Folder, size_t Shard) {
  return (Folder + "/shard-" + llvm::Twine(Shard)).str();
}

llvm::Expected<std::pair<std::string, size_t>> carve::shardOfPath(llvm::StringRef Shard) {
  std::string Path = normalisedPath(Shard);
  llvm::StringRef Name = llvm::sys::path::filename(Path);
  size_t Number = 0;
  if (!Name.consume_front("shard-") || Name.getAsInteger(10, Number))
    return usageError("carve fleet run: '" + Shard + "' is no shard, expected a path such as " +
                      "DIR/shard-0");
  return std::pair(llvm::sys::path::parent_path(Path).str(), Number);
}

std::vector<PlannedShard> carve::dealKernels(std::vector<std::string> Kernels, unsigned Shards) {
  llvm::sort(Kernels);
  Kernels.erase(std::unique(Kernels.begin(), Kernels.end()), Kernels.end());
  std::vector<PlannedShard> Dealt(std::min<size_t>(Shards, Kernels.size()));
  for (size_t K = 0; K < Kernels.size(); ++K)
    Dealt[K % Dealt.size()].Kernels.push_back(Kernels[K]);
  return Dealt;
}

std::vector<PlannedShard>
carve::dealCaptures(std::vector<std::pair<std::string, std::string>> Captures, unsigned Shards) {
  llvm::sort(Captures);
  Captures.erase(std::unique(Captures.begin(), Captures.end()), Captures.end());
  size_t Kernels = 0;
  for (size_t C = 0; C < Captures.size(); ++C)
    Kernels += C == 0 || Captures[C].first != Captures[C - 1].first;
  std::vector<PlannedShard> Dealt(std::min<size_t>(Shards, Kernels));
  size_t Kernel = 0;
  for (size_t C = 0; C < Captures.size(); ++C) {
    Kernel += C > 0 && Captures[C].first != Captures[C - 1].first;
    Dealt[Kernel % Dealt.size()].Captures.push_back(Captures[C].second);
  }
  return Dealt;
}
