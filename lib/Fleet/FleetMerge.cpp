#include "Fleet/FleetMerge.h"

#include "Fleet/Agreement.h"

#include "llvm/ADT/STLExtras.h"

#include <set>
#include <tuple>

using namespace carve;

namespace {

/// What a decision is about: kernel, architecture, and the digest of what was timed.
using Subject = std::tuple<std::string, std::string, std::optional<std::string>>;

Subject subjectOf(const Decision &D) { return {D.Kernel, D.Arch, D.Digest}; }

/// Drivers of one branch, such as 580, are compared with each other.
std::string branchOf(const ShardResult &R) {
  return llvm::StringRef(R.Report.Driver).split('.').first.str();
}

/// Returns the text that most elements of \p Texts are, of several the first by name.
std::string mostFrequent(const std::vector<std::string> &Texts) {
  std::map<std::string, size_t> Counts;
  for (const std::string &Text : Texts)
    ++Counts[Text];
  auto Most =
      llvm::max_element(Counts, [](const auto &A, const auto &B) { return A.second < B.second; });
  return Most == Counts.end() ? "" : Most->first;
}

template <class Function>
std::string expectedOf(llvm::StringRef Planned, llvm::ArrayRef<const ShardResult *> Results,
                       Function Of) {
  if (!Planned.empty())
    return Planned.str();
  std::vector<std::string> Texts;
  for (const ShardResult *R : Results)
    Texts.push_back(Of(*R));
  return mostFrequent(Texts);
}

/// Returns why \p R cannot be compared with the other results; empty if it can.
std::string whyRefused(const ShardResult &R, const MergedFleet &Merged) {
  auto Differs = [&](llvm::StringRef What, llvm::StringRef Actual, llvm::StringRef Expected) {
    return (R.name() + ": " + What + " " + Actual + ", expected " + Expected).str();
  };
  if (R.Report.Device != Merged.Device)
    return Differs("GPU", R.Report.Device, Merged.Device);
  if (branchOf(R) != Merged.DriverBranch)
    return Differs("driver", R.Report.Driver, Merged.DriverBranch);
  if (R.Toolkit != Merged.Toolkit)
    return Differs("toolkit", R.Toolkit, Merged.Toolkit);
  return "";
}

/// Returns the results of \p Plan that can be compared, and says in \p Merged why others cannot.
std::vector<const ShardResult *> comparable(const FleetPlan &Plan, const ReadResults &Read,
                                            MergedFleet &Merged) {
  std::vector<const ShardResult *> OfPlan, Used;
  for (const ShardResult &R : Read.Results)
    if (R.Plan == Plan.Digest)
      OfPlan.push_back(&R);
    else
      Merged.Refused.push_back(R.name() + ": plan " + R.Plan + ", expected " + Plan.Digest);
  Merged.Device =
      expectedOf(Plan.Device, OfPlan, [](const ShardResult &R) { return R.Report.Device; });
  Merged.Toolkit = expectedOf(Plan.Toolkit, OfPlan, [](const ShardResult &R) { return R.Toolkit; });
  Merged.DriverBranch = expectedOf("", OfPlan, branchOf);
  for (const ShardResult *R : OfPlan) {
    std::string Why = whyRefused(*R, Merged);
    if (Why.empty())
      Used.push_back(R);
    else
      Merged.Refused.push_back(std::move(Why));
  }
  llvm::append_range(Merged.Refused, Read.Damaged);
  llvm::sort(Merged.Refused);
  return Used;
}

/// Sets the shards of \p Merged that fewer than \p Agree nodes have finished.
void findUnfinished(llvm::ArrayRef<const ShardResult *> Used, unsigned Agree, MergedFleet &Merged) {
  std::map<size_t, std::set<std::string>> Nodes;
  for (const ShardResult *R : Used)
    Nodes[R->Shard].insert(R->Node);
  for (size_t Shard = 0; Shard < Merged.Shards; ++Shard)
    if (Nodes[Shard].size() < Agree)
      Merged.Unfinished.push_back({Shard, {Nodes[Shard].begin(), Nodes[Shard].end()}});
}

/// What the nodes found out about each kernel. Several units of a node may have the same kernel.
std::map<Subject, std::vector<NodeFinding>> findingsOf(llvm::ArrayRef<const ShardResult *> Used) {
  std::map<Subject, std::vector<NodeFinding>> Findings;
  for (const ShardResult *R : Used)
    for (const auto &[Key, Decided] : R->Decisions)
      for (const Decision &D : Decided.Kernels) {
        std::vector<NodeFinding> &Known = Findings[subjectOf(D)];
        if (llvm::any_of(Known, [&](const NodeFinding &F) { return F.Node == R->Node; }))
          continue;
        auto Report = llvm::find_if(R->Report.Kernels,
                                    [&](const KernelReport &K) { return K.Kernel == D.Kernel; });
        Known.push_back({R->Node, &D, Report == R->Report.Kernels.end() ? nullptr : &*Report});
      }
  return Findings;
}

} // namespace

MergedFleet carve::mergeFleet(const FleetPlan &Plan, const ReadResults &Read) {
  MergedFleet Merged;
  Merged.Shards = Plan.Shards.size();
  std::vector<const ShardResult *> Used = comparable(Plan, Read, Merged);
  Merged.Results = Used.size();
  findUnfinished(Used, Plan.Agree, Merged);
  std::map<Subject, Decision> Agreed;
  for (auto &[About, Findings] : findingsOf(Used)) {
    Agreement A = agreeOn(std::move(Findings), Plan.Agree);
    const auto &[Kernel, Arch, Digest] = About;
    if (!A.Decided) {
      Merged.Waiting.push_back(Kernel);
      continue;
    }
    if (!A.Disagreement.empty())
      Merged.Disagreed.push_back({Kernel, Arch, A.Disagreement});
    ++(A.Decided->isDefault() ? Merged.Default : Merged.Tuned);
    Merged.Decisions.Kernels.push_back(*A.Decided);
    Agreed.emplace(About, std::move(*A.Decided));
  }
  for (const ShardResult *R : Used)
    for (const auto &[Key, Decided] : R->Decisions)
      for (const Decision &D : Decided.Kernels)
        if (auto Its = Agreed.find(subjectOf(D)); Its != Agreed.end())
          Merged.Units[Key].put(Its->second);
  return Merged;
}
