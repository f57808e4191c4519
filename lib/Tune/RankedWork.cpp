#include "Tune/RankedWork.h"

#include "Store/StoreFolder.h"
#include "Support/Clock.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/JsonText.h"
#include "Support/Log.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace carve;
namespace json = llvm::json;
using Steady = std::chrono::steady_clock;

/// Returns the name under which the ranks of one launch meet for the words \p Args.
static std::string meetingKey(const LaunchedRank &Rank, llvm::ArrayRef<std::string> Args) {
  std::vector<llvm::StringRef> Fields = {Rank.Launch};
  Fields.insert(Fields.end(), Args.begin(), Args.end());
  return "ranks-" + digestOfFields(Fields);
}

namespace {

/// Rank 0's side: it writes again and again that it works, and at the end how that went.
class RankLeader {
public:
  RankLeader(std::string Key, UnitStore &Store, const RankPatience &Patience)
      : Key(std::move(Key)), Store(Store), Patience(Patience), Begun(unixNanoseconds()) {
    say("working");
    Beats = std::thread([this] { beat(); });
  }
  RankLeader(const RankLeader &) = delete;
  ~RankLeader() { end("failed"); }

  void end(llvm::StringRef How) {
    if (!Beats.joinable())
      return;
    {
      std::lock_guard<std::mutex> Alone(Mutex);
      Ended = true;
    }
    Changed.notify_all();
    Beats.join();
    say(How);
  }

private:
  void beat() {
    std::unique_lock<std::mutex> Alone(Mutex);
    while (!Changed.wait_for(Alone, Patience.Beat, [this] { return Ended; }))
      say("working");
  }

  void say(llvm::StringRef State) {
    json::Object O{{"ranks", 1},
                   {"state", State},
                   {"begun", Begun},
                   {"said", int64_t(++Said)},
                   {"process", int64_t(::getpid())}};
    if (llvm::Error Failed =
            Store.putAttempt(Key, llvm::formatv("{0}\n", json::Value(std::move(O))).str()))
      logLine("other ranks do not hear of this one: " + llvm::toString(std::move(Failed)));
  }

  const std::string Key;
  UnitStore &Store;
  const RankPatience Patience;
  const int64_t Begun;
  uint64_t Said = 0;
  bool Ended = false;
  std::mutex Mutex;
  std::condition_variable Changed;
  std::thread Beats;
};

} // namespace

/// Returns what rank 0 has said last; empty if it has said nothing.
static std::string lastWord(llvm::StringRef Key, const UnitStore &Store) {
  llvm::Expected<std::optional<std::string>> Text = Store.attempt(Key);
  if (Text)
    return Text->value_or("");
  llvm::consumeError(Text.takeError());
  return "";
}

static std::string stateIn(llvm::StringRef Word) {
  llvm::Expected<json::Value> Value = parseJsonText(Word);
  if (!Value) {
    llvm::consumeError(Value.takeError());
    return "";
  }
  const json::Object *O = Value->getAsObject();
  return O ? O->getString("state").value_or("").str() : "";
}

/// Waits until rank 0 is done. Only changes count, and only this process's clock.
static llvm::Error waitForLeader(const LaunchedRank &Rank, llvm::StringRef Key,
                                 const UnitStore &Store, const RankPatience &Patience) {
  std::string Last;
  for (Steady::time_point Heard = Steady::now(); Steady::now() - Heard < Patience.Quiet;) {
    std::string Word = lastWord(Key, Store), State = stateIn(Word);
    if (State == "done")
      return llvm::Error::success();
    if (State == "failed")
      return malformed(rankText(Rank) + ": rank 0 has failed, and its message says why");
    if (Word != Last) {
      Last = Word;
      Heard = Steady::now();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return malformed(rankText(Rank) +
                   ": nothing is heard of rank 0, which decides for all ranks; to " +
                   "work alone, unset " + Rank.Variable);
}

llvm::Error carve::onceForAllRanks(const std::optional<LaunchedRank> &Rank,
                                   llvm::ArrayRef<std::string> Args, UnitStore &Store,
                                   llvm::function_ref<llvm::Error()> Work,
                                   const RankPatience &Patience) {
  if (!Rank)
    return Work();
  if (Rank->Launch.empty()) {
    if (Rank->Rank == 0)
      return Work();
    logLine(rankText(*Rank) + " does nothing: rank 0 decides for all ranks");
    return llvm::Error::success();
  }
  const std::string Key = meetingKey(*Rank, Args);
  if (Rank->Rank != 0)
    return waitForLeader(*Rank, Key, Store, Patience);
  RankLeader Leader(Key, Store, Patience);
  llvm::Error Failed = Work();
  Leader.end(Failed ? "failed" : "done");
  return Failed;
}

llvm::Error carve::onceForAllRanks(llvm::ArrayRef<std::string> Args, const CommandContext &Context,
                                   llvm::function_ref<llvm::Error(UnitStore &)> Work) {
  llvm::Expected<std::string> Root = storeFolder(Context.Env);
  if (!Root)
    return Root.takeError();
  UnitStore Store = storeAt(*Root, Context.Env);
  return onceForAllRanks(launchedRank(Context.Env), Args, Store, [&] { return Work(Store); });
}
