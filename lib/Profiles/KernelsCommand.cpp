#include "Profiles/KernelsCommand.h"

#include "Profiles/KernelList.h"
#include "Store/StoreFolder.h"
#include "Store/UserProfile.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Flags.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;

namespace {

struct KernelsOptions {
  bool Json = false, ExitCode = false;
  std::string Profile;
  std::vector<std::string> Folders, Rest;
};

Flags kernelsFlags(KernelsOptions &O) {
  Flags F("carve kernels");
  F.form("[options] [FOLDER...]",
         "the kernels that the store knows, as profiles name them, and their settings");
  F.arguments("FOLDER...", O.Folders, "only what is in these folders");
  F.behind("", O.Rest);
  F.text("--profile", "FILE", O.Profile, "use this profile").Default = "CARVE_PROFILE";
  F.flag("--exit-code", O.ExitCode, "end with status 1 if an entry of the profile names no kernel");
  F.choice("--format", {"text", "json"}, O.Json, "how the list is printed");
  return F;
}

} // namespace

llvm::Error carve::runKernels(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  KernelsOptions O;
  if (llvm::Error E = kernelsFlags(O).parse(Args))
    return E;
  if (llvm::Error E = takeFolders("carve kernels", O.Folders, O.Rest))
    return E;
  llvm::Expected<std::string> Root = storeFolder(Context.Env);
  if (!Root)
    return Root.takeError();
  llvm::Expected<CurrentProfiles> Profiles = currentProfiles(O.Profile, Context.Env);
  if (!Profiles)
    return Profiles.takeError();
  KernelList List = listKernels(storeAt(*Root, Context.Env), O.Folders, *Profiles);
  llvm::outs() << (O.Json ? printKernelsJson(List) : printKernelsText(List));
  if (List.Units.empty() && !O.Json)
    llvm::outs() << "the store " << *Root << " has no units"
                 << (O.Folders.empty() ? "" : " in these folders") << "\n";
  if (O.ExitCode && !List.Unmatched.empty())
    return llvm::make_error<Differs>();
  return llvm::Error::success();
}
