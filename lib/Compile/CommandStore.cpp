#include "Compile/CommandStore.h"

#include "Compile/UnitRecorder.h"
#include "Support/Error.h"
#include "Support/Log.h"

using namespace carve;

llvm::Expected<CommandStore> CommandStore::open(const std::optional<UnitStore> &Shared,
                                                const CommandLine &C, llvm::StringRef WorkDir) {
  if (Shared && Shared->writable())
    return CommandStore(*Shared);
  llvm::Expected<TempDir> Dir = TempDir::create("carve-store");
  if (!Dir)
    return unsupported("no-store", llvm::toString(Dir.takeError()));
  CommandStore Result{UnitStore(Dir->path(), Shared ? Shared->siteRoot() : "")};
  if (Shared && !Shared->refusal().empty())
    logLine("the store is not used: " + Shared->refusal());
  else if (Shared)
    copyDecisions(C, WorkDir, *Shared, Result.Store);
  Result.Own = std::move(*Dir);
  return Result;
}
