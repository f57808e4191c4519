#include "Tune/Variants/FlavourModules.h"

#include "Support/Error.h"
#include "Support/Log.h"
#include "Support/Parallel.h"

using namespace carve;

FlavourModules::Flavour FlavourModules::make(const Key &K) const {
  const ParsedModule &M = Sources.of(K.first);
  llvm::Expected<std::string> Text = Context.FlavourPtx(M.Source, M.Image, K.second);
  llvm::Expected<PtxModule> Ptx = Text ? PtxModule::parse(std::move(*Text)) : Text.takeError();
  if (Ptx)
    return {std::move(*Ptx), {}};
  std::string Why = llvm::toString(Ptx.takeError());
  logLine(M.Source.Output + " with " + nameOf(K.second) + ": " + Why);
  return {std::nullopt, Why};
}

void FlavourModules::prepare(const std::set<Key> &Wanted) {
  std::vector<std::pair<Key, Flavour *>> New;
  for (const Key &K : Wanted)
    if (auto [It, Inserted] = Made.try_emplace(K); Inserted)
      New.emplace_back(K, &It->second);
  if (!New.empty())
    runInParallel(New.size(), [&](size_t I) { *New[I].second = make(New[I].first); });
}

llvm::Expected<const PtxModule *> FlavourModules::find(size_t Module,
                                                       const FrontEndSetting &Setting) const {
  auto It = Made.find({Module, Setting});
  if (It == Made.end())
    return unsupported("no-flavour", nameOf(Setting) + " was not made");
  if (!It->second.Ptx)
    return unsupported("no-flavour", It->second.Failure);
  return &*It->second.Ptx;
}
