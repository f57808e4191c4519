#include "Commands.h"
#include "Driver/Flags.h"
#include "Driver/StaleOutputs.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;
namespace json = llvm::json;

/// Whether an output is this command's to bring about, and not the build system's by itself.
static bool needsTouch(const StaleOutput &S) { return S.Cue != RebuildCue::Depfile; }

static void printStale(llvm::ArrayRef<StaleOutput> Stale, bool Json, llvm::StringRef Verb) {
  if (!Json) {
    for (const StaleOutput &S : Stale)
      llvm::outs() << Verb << S.Source << " (for " << S.Output << ")\n";
    return;
  }
  json::Array List;
  for (const StaleOutput &S : Stale)
    List.push_back(json::Object{{"source", json::fixUTF8(S.Source)},
                                {"output", json::fixUTF8(S.Output)},
                                {"in-depfile", S.Cue == RebuildCue::Depfile}});
  llvm::outs() << llvm::formatv("{0:2}", json::Value(std::move(List))) << "\n";
}

llvm::Error carve::runTouch(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  unsigned Format = 0;
  bool List = false, All = false;
  Flags F("carve touch");
  F.choice("--format", {"text", "json"}, Format);
  F.flag("--list", List);
  F.flag("--all", All);
  std::vector<std::string> Folders, Rest;
  if (llvm::Error E = F.parse(Args, Folders, Rest))
    return E;
  if (!Rest.empty())
    return usageError("carve touch: takes folders, not '" + Rest.front() + "' behind --");
  for (std::string &Folder : Folders) {
    if (!llvm::sys::fs::is_directory(Folder))
      return usageError("carve touch: '" + Folder + "' is no folder");
    Folder = normalisedPath(Folder);
  }
  llvm::Expected<std::string> Root = storeFolder(Context.Env);
  if (!Root)
    return Root.takeError();
  std::vector<StaleOutput> Stale = staleOutputs(UnitStore(*Root), Folders);
  if (!All)
    llvm::erase_if(Stale, [](const StaleOutput &S) { return !needsTouch(S); });
  for (const StaleOutput &S : Stale)
    if (llvm::Error E = List ? llvm::Error::success() : touchSource(S.Source))
      return E;
  printStale(Stale, Format == 1, List ? "" : "touched ");
  return llvm::Error::success();
}
