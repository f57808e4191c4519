#include "Store/TouchCommand.h"

#include "Store/NamedProfiles.h"
#include "Store/StaleOutputs.h"
#include "Store/StoreFolder.h"
#include "Support/Error.h"
#include "Support/Flags.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;
namespace json = llvm::json;

/// Returns true if this command has to touch a file for \p S; otherwise the build system remakes
/// the output by itself.
static bool needsTouch(const StaleOutput &S) { return S.Cue != RebuildCue::Depfile || S.ByProfile; }

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
                                {"in-depfile", S.Cue == RebuildCue::Depfile},
                                {"new-decision", S.ByDecision},
                                {"new-profile", S.ByProfile}});
  llvm::outs() << llvm::formatv("{0:2}", json::Value(std::move(List))) << "\n";
}

static llvm::Error renew(llvm::ArrayRef<StaleOutput> Stale, UnitStore &Store) {
  for (const StaleOutput &S : Stale) {
    llvm::Expected<std::string> File = cueFile(S, Store);
    if (!File)
      return File.takeError();
    if (llvm::Error E = touchFile(*File))
      return E;
  }
  return llvm::Error::success();
}

llvm::Error carve::runTouch(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  unsigned Format = 0;
  bool List = false, All = false;
  std::string Given;
  Flags F("carve touch");
  F.choice("--format", {"text", "json"}, Format);
  F.flag("--list", List);
  F.flag("--all", All);
  F.text("--profile", Given);
  std::vector<std::string> Folders, Rest;
  if (llvm::Error E = F.parse(Args, Folders, Rest))
    return E;
  if (llvm::Error E = takeFolders("carve touch", Folders, Rest))
    return E;
  llvm::Expected<std::string> Root = storeFolder(Context.Env);
  if (!Root)
    return Root.takeError();
  llvm::Expected<CurrentProfiles> Profiles = currentProfiles(Given, Context.Env);
  if (!Profiles)
    return Profiles.takeError();
  UnitStore Store(*Root);
  std::vector<StaleOutput> Stale = staleOutputs(Store, Folders, &*Profiles);
  if (!All)
    llvm::erase_if(Stale, [](const StaleOutput &S) { return !needsTouch(S); });
  if (!List)
    if (llvm::Error E = renew(Stale, Store))
      return E;
  printStale(Stale, Format == 1, List ? "" : "touched ");
  return llvm::Error::success();
}
