#include "Profiles/KernelsCommand.h"

#include "Profiles/KernelList.h"
#include "Store/NamedProfiles.h"
#include "Store/StoreFolder.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Flags.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;

llvm::Error carve::runKernels(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  unsigned Format = 0;
  bool ExitCode = false;
  std::string Given;
  Flags F("carve kernels");
  F.choice("--format", {"text", "json"}, Format);
  F.text("--profile", Given);
  F.flag("--exit-code", ExitCode);
  std::vector<std::string> Folders, Rest;
  if (llvm::Error E = F.parse(Args, Folders, Rest))
    return E;
  if (llvm::Error E = takeFolders("carve kernels", Folders, Rest))
    return E;
  llvm::Expected<std::string> Root = storeFolder(Context.Env);
  if (!Root)
    return Root.takeError();
  llvm::Expected<CurrentProfiles> Profiles = currentProfiles(Given, Context.Env);
  if (!Profiles)
    return Profiles.takeError();
  KernelList List = listKernels(UnitStore(*Root), Folders, *Profiles);
  llvm::outs() << (Format == 1 ? printKernelsJson(List) : printKernelsText(List));
  if (List.Units.empty() && Format == 0)
    llvm::outs() << "the store " << *Root << " has no units"
                 << (Folders.empty() ? "" : " in these folders") << "\n";
  if (ExitCode && !List.Unmatched.empty())
    return llvm::make_error<Differs>();
  return llvm::Error::success();
}
