#include "Store/StoreCommand.h"

#include "Store/StoreFolder.h"
#include "Store/StoreUpkeep.h"
#include "Store/UnitStore.h"
#include "Support/Error.h"
#include "Support/Flags.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;
namespace json = llvm::json;

static void printJson(json::Value Value) { llvm::outs() << llvm::formatv("{0:2}", Value) << "\n"; }

static llvm::Error showStats(const UnitStore &Store, bool Json) {
  StoreStats S = storeStats(Store);
  if (Json) {
    json::Object Reasons;
    for (const auto &[Reason, Count] : S.Passthroughs)
      Reasons[Reason] = int64_t(Count);
    printJson(json::Object{{"store", Store.root()},
                           {"units", int64_t(S.Units)},
                           {"links", int64_t(S.Links)},
                           {"blobs", int64_t(S.Blobs)},
                           {"decisions", int64_t(S.Decisions)},
                           {"reports", int64_t(S.Reports)},
                           {"bytes", int64_t(S.Bytes)},
                           {"passthroughs", std::move(Reasons)}});
    return llvm::Error::success();
  }
  llvm::outs() << "store      " << Store.root() << "\nunits      " << S.Units << "\nlinks      "
               << S.Links << "\nblobs      " << S.Blobs << "\ndecisions  " << S.Decisions
               << "\nreports    " << S.Reports << "\nbytes      " << S.Bytes << "\n";
  if (!S.Passthroughs.empty())
    llvm::outs() << "handed to nvcc, by reason:\n";
  for (const auto &[Reason, Count] : S.Passthroughs)
    llvm::outs() << "  " << Reason << "  " << Count << "\n";
  return llvm::Error::success();
}

static llvm::Error showFaults(const UnitStore &Store, bool Repair, bool Json) {
  std::vector<StoreFault> Faults = verifyStore(Store, Repair);
  if (Json) {
    json::Array List;
    for (const StoreFault &F : Faults)
      List.push_back(json::Object{{"path", F.Path}, {"fault", F.What}});
    printJson(json::Object{{"repaired", Repair}, {"faults", std::move(List)}});
  } else {
    for (const StoreFault &F : Faults)
      llvm::outs() << F.Path << ": " << F.What << (Repair ? " (removed)" : "") << "\n";
    llvm::outs() << Faults.size() << " fault(s)\n";
  }
  if (!Faults.empty() && !Repair)
    return malformed("the store " + Store.root() + " has faults; --repair removes what is damaged");
  return llvm::Error::success();
}

namespace {

struct StoreOptions {
  bool Json = false, Repair = false;
  unsigned MaxMegabytes = 0;
  std::vector<std::string> Words, Rest;
};

Flags storeFlags(StoreOptions &O) {
  Flags F("carve store");
  F.form("[options] stats|verify|prune|clear", "show, check or shrink what the store remembers");
  F.arguments("stats|verify|prune|clear", O.Words,
              "count it; check it; remove what was unused for longest; remove all");
  F.behind("", O.Rest);
  F.flag("--repair", O.Repair, "with verify: remove what is damaged");
  F.number("--max-size", "MEGABYTES", O.MaxMegabytes, 1, 1u << 30, "with prune: what may remain")
      .Default = "CARVE_STORE_SIZE";
  F.choice("--format", {"text", "json"}, O.Json, "how the result is printed");
  return F;
}

} // namespace

llvm::Error carve::runStore(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  StoreOptions O;
  if (llvm::Error E = storeFlags(O).parse(Args))
    return E;
  const std::vector<std::string> &Words = O.Words;
  if (Words.size() != 1 || !O.Rest.empty())
    return usageError("carve store: expected one of stats, verify, prune or clear");
  llvm::Expected<std::string> Root = storeFolder(Context.Env);
  if (!Root)
    return Root.takeError();
  UnitStore Store(*Root);
  const bool Json = O.Json;
  if (Words[0] == "stats")
    return showStats(Store, Json);
  if (Words[0] == "verify")
    return showFaults(Store, O.Repair, Json);
  uint64_t Before = storeStats(Store).Bytes;
  llvm::Error Done = llvm::Error::success();
  if (Words[0] == "prune")
    Done = pruneStore(Store,
                      O.MaxMegabytes ? uint64_t(O.MaxMegabytes) << 20 : storeLimit(Context.Env));
  else if (Words[0] == "clear")
    Done = clearStore(Store);
  else
    Done = usageError("carve store: unknown '" + Words[0] +
                      "', expected stats, verify, prune or clear");
  if (Done)
    return Done;
  uint64_t After = storeStats(Store).Bytes;
  if (Json)
    printJson(json::Object{{"bytes-before", int64_t(Before)}, {"bytes-after", int64_t(After)}});
  else
    llvm::outs() << "freed " << Before - std::min(Before, After) << " bytes, " << After
                 << " remain\n";
  return llvm::Error::success();
}
