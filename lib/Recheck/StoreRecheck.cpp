#include "Recheck/StoreRecheck.h"

#include "Store/DecisionFiles.h"
#include "Store/ProfileReader.h"
#include "Store/StoreLayout.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace carve;
namespace json = llvm::json;

/// The decisions on the unit \p Key; none if they cannot be read, which is logged.
static std::vector<Decision> decisionsOfUnit(const UnitStore &Store, llvm::StringRef Key) {
  llvm::Expected<std::optional<std::string>> Text = readDecisions(Store, Key);
  if (Text && !*Text)
    return {};
  llvm::Expected<Profile> P = Text ? parseProfile(**Text, Key) : Text.takeError();
  if (P)
    return std::move(P->Kernels);
  logLine(llvm::toString(P.takeError()));
  return {};
}

std::vector<StoredDecision> carve::changingDecisions(const UnitStore &Store) {
  std::vector<StoredDecision> Changing;
  for (const std::string &Key : entryNames(Store.root(), EntryKind::Decision)) {
    // By kernel and architecture.
    std::map<std::pair<std::string, std::string>, Decision> Newest;
    for (Decision &D : decisionsOfUnit(Store, Key)) {
      if (!D.Digest || !D.Basis)
        continue;
      auto [Place, New] = Newest.try_emplace({D.Kernel, D.Arch}, D);
      if (!New && Place->second.Basis->Date < D.Basis->Date)
        Place->second = std::move(D);
    }
    for (auto &[About, D] : Newest)
      if (!D.isDefault())
        Changing.push_back({Key, std::move(D), ""});
  }
  return Changing;
}

/// The kernel of \p W on which \p D decides; null if the workload did not decide on it.
static const WorkloadKernel *kernelIn(const TunedWorkload &W, const StoredDecision &D) {
  auto Its = llvm::find_if(W.Kernels, [&](const WorkloadKernel &K) {
    return K.Unit == D.Unit && K.Kernel == D.Decided.Kernel;
  });
  return Its == W.Kernels.end() ? nullptr : &*Its;
}

StorePlan carve::planStore(std::vector<StoredDecision> Decisions,
                           const std::vector<TunedWorkload> &Workloads,
                           llvm::function_ref<std::string(const TunedWorkload &)> WhyGone) {
  StorePlan Plan;
  std::vector<std::optional<std::string>> Gone(Workloads.size());
  std::vector<WorkloadTurn> Turns(Workloads.size());
  for (StoredDecision &D : Decisions) {
    std::string Why;
    WorkloadTurn *Turn = nullptr;
    for (size_t I = 0; I < Workloads.size() && !Turn; ++I) {
      const WorkloadKernel *K = kernelIn(Workloads[I], D);
      if (!K)
        continue;
      if (!Gone[I])
        Gone[I] = WhyGone(Workloads[I]);
      if (Why.empty())
        Why = *Gone[I];
      if (!Gone[I]->empty())
        continue;
      D.Mangled = K->Mangled;
      Turn = &Turns[I];
      Turn->GpuNs += K->GpuNs;
    }
    if (Turn)
      Turn->Decisions.push_back(std::move(D));
    else
      Plan.Untimed.push_back(
          {std::move(D),
           Why.empty() ? "the store does not know its workload; tune it again" : Why});
  }
  for (size_t I = 0; I < Workloads.size(); ++I)
    if (!Turns[I].Decisions.empty()) {
      Turns[I].Workload = Workloads[I];
      Plan.Turns.push_back(std::move(Turns[I]));
    }
  llvm::stable_sort(Plan.Turns,
                    [](const WorkloadTurn &A, const WorkloadTurn &B) { return A.GpuNs > B.GpuNs; });
  return Plan;
}

void StoreOutcome::add(const WorkloadTurn &Turn, RecheckOutcome Timed) {
  for (const StoredDecision &D : Turn.Decisions) {
    if (llvm::any_of(Timed.Kernels,
                     [&](const RecheckedKernel &K) { return K.Mangled == D.Mangled; }))
      continue;
    const std::string &Device = D.Decided.Basis->Device;
    Untimed.push_back({D, Device == Timed.Device
                              ? Timed.Workload + " does not launch it as it was tuned"
                              : "it was timed on " + Device + ", and this is " + Timed.Device});
  }
  Workloads.push_back(std::move(Timed));
}

void StoreOutcome::skip(const WorkloadTurn &Turn, const std::string &Why) {
  for (const StoredDecision &D : Turn.Decisions)
    Untimed.push_back({D, Why});
}

size_t StoreOutcome::count(RecheckVerdict V) const {
  size_t Count = V == RecheckVerdict::Untimed ? Untimed.size() : 0;
  for (const RecheckOutcome &W : Workloads)
    Count += W.count(V);
  return Count;
}

std::string carve::printStoreText(const StoreOutcome &Outcome) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << Outcome.Store << ": " << Outcome.count(RecheckVerdict::Holds) << " decision(s) hold, "
     << Outcome.count(RecheckVerdict::Lost) << " lost, " << Outcome.count(RecheckVerdict::Uncertain)
     << " uncertain, " << Outcome.count(RecheckVerdict::Untimed) << " untimed\n";
  for (const RecheckOutcome &W : Outcome.Workloads)
    OS << "\n" << printRecheckText(W);
  if (!Outcome.Untimed.empty())
    OS << "\nnot timed:\n";
  for (const UntimedDecision &U : Outcome.Untimed)
    OS << U.Stored.Decided.Kernel << " of " << U.Stored.Decided.Basis->Source << ": "
       << decisionText(U.Stored.Decided) << "\n            " << U.Why << "\n";
  return Text;
}

std::string carve::printStoreJson(const StoreOutcome &Outcome) {
  json::Array Workloads, Untimed;
  for (const RecheckOutcome &W : Outcome.Workloads)
    Workloads.push_back(recheckValue(W));
  for (const UntimedDecision &U : Outcome.Untimed)
    Untimed.push_back(json::Object{{"kernel", json::fixUTF8(U.Stored.Decided.Kernel)},
                                   {"arch", U.Stored.Decided.Arch},
                                   {"source", json::fixUTF8(U.Stored.Decided.Basis->Source)},
                                   {"decided", decisionText(U.Stored.Decided)},
                                   {"reason", json::fixUTF8(U.Why)}});
  json::Object Root{{"carve-recheck-store", 1},
                    {"store", json::fixUTF8(Outcome.Store)},
                    {"workloads", std::move(Workloads)},
                    {"untimed", std::move(Untimed)}};
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::formatv("{0:2}\n", json::Value(std::move(Root)));
  return Text;
}
