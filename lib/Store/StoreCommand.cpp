#include "Store/StoreCommand.h"

#include "Store/PublishedDecisions.h"
#include "Store/StoreFolder.h"
#include "Store/StoreLayout.h"
#include "Store/StoreUpkeep.h"
#include "Store/UnitStore.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Flags.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/stat.h>

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
                           {"published", int64_t(S.Published)},
                           {"bytes", int64_t(S.Bytes)},
                           {"passthroughs", std::move(Reasons)}});
    return llvm::Error::success();
  }
  llvm::outs() << "store      " << Store.root() << "\nunits      " << S.Units << "\nlinks      "
               << S.Links << "\nblobs      " << S.Blobs << "\ndecisions  " << S.Decisions
               << "\nreports    " << S.Reports << "\npublished  " << S.Published << "\nbytes      "
               << S.Bytes << "\n";
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
  bool Json = false, Repair = false, Site = false;
  unsigned MaxMegabytes = 0;
  std::string To;
  std::vector<std::string> Words, Rest;
};

Flags storeFlags(StoreOptions &O) {
  Flags F("carve store");
  F.form("[options] stats|verify|prune|clear|publish",
         "show, check, shrink or publish what the store remembers");
  F.arguments("stats|verify|prune|clear|publish", O.Words,
              "count it; check it; remove what was unused for longest; remove all; "
              "offer its decisions to a site");
  F.behind("", O.Rest);
  F.flag("--repair", O.Repair, "with verify: remove what is damaged");
  F.number("--max-size", "MEGABYTES", O.MaxMegabytes, 1, 1u << 30, "with prune: what may remain")
      .Default = "CARVE_STORE_SIZE";
  F.flag("--site", O.Site, "with stats and verify: look at the site's store");
  F.text("--to", "FOLDER", O.To, "with publish: the site's store").Default = "CARVE_STORE_SITE";
  F.choice("--format", {"text", "json"}, O.Json, "how the result is printed");
  return F;
}

} // namespace

static llvm::Expected<UnitStore> ownStore(GetEnv Env) {
  llvm::Expected<std::string> Root = storeFolder(Env);
  if (!Root)
    return Root.takeError();
  return UnitStore(*Root);
}

static llvm::Expected<UnitStore> siteStore(GetEnv Env) {
  std::optional<std::string> Root = siteRoot(Env);
  if (!Root)
    return usageError("there is no site's store: CARVE_STORE_SITE is unset");
  if (!llvm::sys::fs::is_directory(*Root))
    return usageError("the site's store " + *Root + " is not a directory");
  UnitStore Site = UnitStore::siteAt(*Root);
  if (!Site.refusal().empty())
    return usageError("the site's store is not used: " + Site.refusal());
  return Site;
}

/// Publishes as the only process that does so.
static llvm::Expected<Publication> publishAlone(const UnitStore &From, UnitStore &Site) {
  if (!Site.refusal().empty())
    return usageError("carve store publish: " + Site.refusal());
  if (From.root() == Site.root())
    return usageError("carve store publish: " + Site.root() + " is the store itself");
  if (!Site.writable())
    return usageError("carve store publish: " + Site.root() + " cannot be written");
  llvm::Expected<LinkLock> Alone =
      LinkLock::take(publishLockPath(Site.root()), std::chrono::milliseconds(0));
  if (!Alone)
    return usageError("carve store publish: another process publishes there: " +
                      llvm::toString(Alone.takeError()));
  return publish(From, Site, *Alone);
}

static llvm::Error publishStore(const UnitStore &From, const StoreOptions &O, GetEnv Env) {
  std::string To = O.To.empty() ? siteRoot(Env).value_or("") : normalisedPath(O.To);
  if (To.empty())
    return usageError("carve store publish: no site's store: name it by --to or CARVE_STORE_SITE");
  UnitStore Site(std::move(To));
  // Others read what is published, whatever this user's umask is. No other user can write it.
  const mode_t Before = ::umask(022);
  llvm::Expected<Publication> Done = publishAlone(From, Site);
  ::umask(Before);
  if (!Done)
    return Done.takeError();
  if (O.Json)
    printJson(json::Object{{"site", Site.root()},
                           {"new", int64_t(Done->New)},
                           {"replaced", int64_t(Done->Replaced)},
                           {"known", int64_t(Done->Known)},
                           {"records", int64_t(Done->Records)}});
  else
    llvm::outs() << "published " << Done->New << " decision(s) in " << Site.root() << ", "
                 << Done->Replaced << " of them in place of earlier ones; " << Done->Known
                 << " known already\n";
  return llvm::Error::success();
}

llvm::Error carve::runStore(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  StoreOptions O;
  if (llvm::Error E = storeFlags(O).parse(Args))
    return E;
  const std::vector<std::string> &Words = O.Words;
  if (Words.size() != 1 || !O.Rest.empty())
    return usageError("carve store: expected one of stats, verify, prune, clear or publish");
  if (O.Site && Words[0] != "stats" && Words[0] != "verify")
    return usageError("carve store: --site is for stats and verify, not for " + Words[0]);
  if (O.Site && O.Repair)
    return usageError("carve store: a site's store is only read; whoever owns it repairs it as "
                      "CARVE_STORE");
  llvm::Expected<UnitStore> Asked = O.Site ? siteStore(Context.Env) : ownStore(Context.Env);
  if (!Asked)
    return Asked.takeError();
  const UnitStore &Store = *Asked;
  const bool Json = O.Json;
  if (Words[0] == "stats")
    return showStats(Store, Json);
  if (Words[0] == "verify")
    return showFaults(Store, O.Repair, Json);
  if (Words[0] == "publish")
    return publishStore(Store, O, Context.Env);
  uint64_t Before = storeStats(Store).Bytes;
  llvm::Error Done = llvm::Error::success();
  if (Words[0] == "prune")
    Done = pruneStore(Store,
                      O.MaxMegabytes ? uint64_t(O.MaxMegabytes) << 20 : storeLimit(Context.Env));
  else if (Words[0] == "clear")
    Done = clearStore(Store);
  else
    Done = usageError("carve store: unknown '" + Words[0] +
                      "', expected stats, verify, prune, clear or publish");
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
