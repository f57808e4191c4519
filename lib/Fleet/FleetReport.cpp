#include "Fleet/FleetReport.h"

#include "Support/JsonRecord.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace carve;
namespace json = llvm::json;

/// Returns numbers that ascend as sbatch takes them: `3,17-19`.
static std::string ranges(llvm::ArrayRef<size_t> Numbers) {
  std::vector<std::string> Texts;
  for (size_t I = 0; I < Numbers.size(); ++I) {
    size_t First = Numbers[I], Last = First;
    for (; I + 1 < Numbers.size() && Numbers[I + 1] == Last + 1; ++I)
      ++Last;
    Texts.push_back(std::to_string(First) + (First == Last ? "" : "-" + std::to_string(Last)));
  }
  return llvm::join(Texts, ",");
}

/// The unfinished shards by the nodes that have finished them.
static std::map<std::vector<std::string>, std::vector<size_t>>
unfinishedByNodes(const MergedFleet &Merged) {
  std::map<std::vector<std::string>, std::vector<size_t>> ByNodes;
  for (const UnfinishedShard &U : Merged.Unfinished)
    ByNodes[U.Nodes].push_back(U.Shard);
  return ByNodes;
}

/// Returns the commands that submit the unfinished shards again. A task on as many nodes as must
/// agree has at least one node that has not finished its shard. If the program starts itself on
/// several nodes, the array has a task for each shard and each node that must agree (JobScript.h),
/// and Slurm must be told which nodes are not wanted.
static std::string submitAgain(const MergedFleet &Merged, const FleetPlan &Plan,
                               llvm::StringRef Folder) {
  std::string Text;
  auto Add = [&](llvm::ArrayRef<size_t> Tasks, llvm::ArrayRef<std::string> Without) {
    Text += ("submit again: sbatch --array=" + ranges(Tasks) +
             (Without.empty() ? "" : " --exclude=" + llvm::join(Without, ",")) + " " + Folder +
             "/job.sh\n")
                .str();
  };
  std::vector<size_t> Tasks;
  if (Plan.ProgramNodes == 0) {
    for (const UnfinishedShard &U : Merged.Unfinished)
      Tasks.push_back(U.Shard);
    Add(Tasks, {});
    return Text;
  }
  for (const auto &[Nodes, Shards] : unfinishedByNodes(Merged)) {
    Tasks.clear();
    for (size_t Turn = 0; Turn + Nodes.size() < Plan.Agree; ++Turn)
      for (size_t Shard : Shards)
        Tasks.push_back(Turn * Plan.Shards.size() + Shard);
    Add(Tasks, Nodes);
  }
  return Text;
}

std::string carve::printFleetText(const MergedFleet &Merged, const FleetPlan &Plan,
                                  llvm::StringRef Folder) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << Merged.Shards - Merged.Unfinished.size() << " of " << Merged.Shards
     << " shards finished by " << Plan.Agree << " node" << (Plan.Agree == 1 ? "" : "s each") << ", "
     << Merged.Results << " results";
  if (!Merged.Device.empty())
    OS << " on " << Merged.Device << ", driver " << Merged.DriverBranch << ", CUDA "
       << Merged.Toolkit;
  OS << "\n"
     << Merged.Tuned << " kernels tuned, " << Merged.Default << " keep nvcc's code, "
     << Merged.Waiting.size() << " wait for another node\n";
  for (const DisagreedKernel &K : Merged.Disagreed)
    OS << "nodes disagree on " << K.Kernel << " (" << K.Arch << "): " << K.Opinions << "\n";
  for (const std::string &Refused : Merged.Refused)
    OS << "refused: " << Refused << "\n";
  for (const auto &[Nodes, Shards] : unfinishedByNodes(Merged))
    OS << "not finished " << (Nodes.empty() ? "by any node" : "but by " + llvm::join(Nodes, ", "))
       << ": shard" << (Shards.size() == 1 ? " " : "s ") << ranges(Shards) << "\n";
  if (!Merged.Unfinished.empty())
    OS << submitAgain(Merged, Plan, Folder);
  return Text;
}

namespace carve {

template <class Fields> static void describe(Fields &F, UnfinishedShard &U) {
  uint64_t Shard = U.Shard;
  F("shard", Shard);
  F("nodes", U.Nodes);
}

template <class Fields> static void describe(Fields &F, DisagreedKernel &K) {
  F("kernel", K.Kernel);
  F("arch", K.Arch);
  F("opinions", K.Opinions);
}

} // namespace carve

std::string carve::printFleetJson(const MergedFleet &Merged, const FleetPlan &Plan) {
  json::Object Whole{
      {"shards", uint64_t(Merged.Shards)},   {"agree", Plan.Agree},
      {"results", uint64_t(Merged.Results)}, {"device", Merged.Device},
      {"driver", Merged.DriverBranch},       {"toolkit", Merged.Toolkit},
      {"tuned", uint64_t(Merged.Tuned)},     {"default", uint64_t(Merged.Default)},
      {"waiting", toValue(Merged.Waiting)},  {"disagreed", toValue(Merged.Disagreed)},
      {"refused", toValue(Merged.Refused)},  {"unfinished", toValue(Merged.Unfinished)}};
  return llvm::formatv("{0:2}", json::Value(std::move(Whole))).str() + "\n";
}

std::string carve::whatIsMissing(const MergedFleet &Merged) {
  std::vector<std::string> Parts;
  if (!Merged.Refused.empty())
    Parts.push_back(
        Merged.Refused.front() +
        (Merged.Refused.size() == 1
             ? " (refused)"
             : " (refused, as " + std::to_string(Merged.Refused.size() - 1) + " more)"));
  if (!Merged.Unfinished.empty())
    Parts.push_back(std::to_string(Merged.Unfinished.size()) + " of " +
                    std::to_string(Merged.Shards) + " shards are not finished");
  return llvm::join(Parts, "; ");
}
