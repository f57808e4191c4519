#include "Tune/Variants/FlavourModules.h"

#include "Support/Error.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

FlavourModules::Flavour FlavourModules::make(const Key &K) const {
  const ParsedModule &M = Sources.of(K.first);
  llvm::Expected<std::string> Text = Context.FlavourPtx(M.Source, M.Image, K.second);
  llvm::Expected<PtxModule> Ptx = Text ? PtxModule::parse(std::move(*Text)) : Text.takeError();
  if (Ptx)
    return {true, std::move(*Ptx), {}};
  std::string Why = llvm::toString(Ptx.takeError());
  if (!Abandoned)
    logLine(M.Source.Output + " with " + nameOf(K.second) + ": " + Why);
  return {true, std::nullopt, Why};
}

/// What is abandoned stays unready: its failure says nothing of the setting.
void FlavourModules::makeOne(const Key &K) {
  if (Abandoned)
    return;
  Flavour F = make(K);
  std::lock_guard<std::mutex> Lock(Guard);
  if (F.Ptx || !Abandoned)
    Made[K] = std::move(F);
  Changed.notify_all();
}

void FlavourModules::prepare(const std::set<Key> &Wanted, Until End) {
  std::unique_lock<std::mutex> Lock(Guard);
  for (const Key &K : Wanted) {
    if (!Made.try_emplace(K).second)
      continue;
    if (!Threads)
      Threads = std::make_unique<llvm::DefaultThreadPool>(llvm::hardware_concurrency());
    Threads->async([this, K] { makeOne(K); });
  }
  auto AllReady = [&] { return llvm::all_of(Wanted, [&](const Key &K) { return Made[K].Ready; }); };
  if (End)
    Changed.wait_until(Lock, *End, AllReady);
  else
    Changed.wait(Lock, AllReady);
}

bool FlavourModules::isReady(const Key &K) const {
  std::lock_guard<std::mutex> Lock(Guard);
  auto It = Made.find(K);
  return It != Made.end() && It->second.Ready;
}

llvm::Expected<const PtxModule *> FlavourModules::find(size_t Module,
                                                       const FrontEndSetting &Setting) const {
  std::lock_guard<std::mutex> Lock(Guard);
  auto It = Made.find({Module, Setting});
  if (It == Made.end() || !It->second.Ready)
    return unsupported("no-flavour", nameOf(Setting) + " was not made");
  if (!It->second.Ptx)
    return unsupported("no-flavour", It->second.Failure);
  return &*It->second.Ptx;
}

void FlavourModules::abandon() {
  if (!Threads)
    return;
  Abandoned = true;
  if (Context.FlavourRunner)
    Context.FlavourRunner->abandon(true);
  Threads->wait();
  if (Context.FlavourRunner)
    Context.FlavourRunner->abandon(false);
  Abandoned = false;
  std::lock_guard<std::mutex> Lock(Guard);
  std::erase_if(Made, [](const auto &Entry) { return !Entry.second.Ready; });
}
