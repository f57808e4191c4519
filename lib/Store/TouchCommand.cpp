#include "Store/TouchCommand.h"

#include "Store/StaleOutputs.h"
#include "Store/StoreFolder.h"
#include "Store/UserProfile.h"
#include "Support/Error.h"
#include "Support/Flags.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;
namespace json = llvm::json;

/// Returns true if this command has to touch a file for \p S; otherwise the build system remakes
/// the output by itself.
static bool needsTouch(const StaleOutput &S) {
  return S.Cue != RebuildCue::Depfile || S.ByProfile || S.Unseen;
}

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

namespace {

struct TouchOptions {
  bool Json = false, List = false, All = false;
  std::string Profile;
  std::vector<std::string> Folders, Rest;
};

Flags touchFlags(TouchOptions &O) {
  Flags F("carve touch");
  F.form("[options] [FOLDER...]",
         "make the build repeat outputs whose depfile does not name a new decision or profile");
  F.arguments("FOLDER...", O.Folders, "only outputs in these folders");
  F.behind("", O.Rest);
  F.text("--profile", "FILE", O.Profile, "use this profile").Default = "CARVE_PROFILE";
  F.flag("--list", O.List, "print the outputs, and touch nothing");
  F.flag("--all", O.All, "include outputs whose depfile lists their decision file");
  F.choice("--format", {"text", "json"}, O.Json, "how the list is printed");
  return F;
}

} // namespace

llvm::Error carve::runTouch(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  TouchOptions O;
  if (llvm::Error E = touchFlags(O).parse(Args))
    return E;
  if (llvm::Error E = takeFolders("carve touch", O.Folders, O.Rest))
    return E;
  llvm::Expected<std::string> Root = storeFolder(Context.Env);
  if (!Root)
    return Root.takeError();
  llvm::Expected<CurrentProfiles> Profiles = currentProfiles(O.Profile, Context.Env);
  if (!Profiles)
    return Profiles.takeError();
  UnitStore Store = storeAt(*Root, Context.Env);
  std::vector<StaleOutput> Stale = staleOutputs(Store, O.Folders, &*Profiles);
  if (!O.All)
    llvm::erase_if(Stale, [](const StaleOutput &S) { return !needsTouch(S); });
  if (!O.List)
    if (llvm::Error E = renew(Stale, Store))
      return E;
  printStale(Stale, O.Json, O.List ? "" : "touched ");
  return llvm::Error::success();
}
