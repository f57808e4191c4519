// What several commands do alike.
#include "Commands.h"

#include "Nvcc/Toolchain.h"
#include "Report/JsonReport.h"
#include "Store/UnitStore.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;

llvm::Expected<std::string> carve::storeFolder(GetEnv Env) {
  if (std::optional<std::string> Root = storeRoot(Env)) {
    if (const std::string Why = UnitStore(*Root).refusal(); !Why.empty())
      return usageError("the store is not used: " + Why);
    return *Root;
  }
  return usageError("no store: CARVE_STORE, XDG_CACHE_HOME and HOME are all unset");
}

llvm::Error carve::needGpu(GetEnv Env, llvm::StringRef What) {
  if (gpuPresent(Env))
    return llvm::Error::success();
  return usageError(llvm::Twine(NoGpu) + "; " + What);
}

llvm::Expected<Toolchain> carve::toolchainOf(const CommandContext &Context) {
  llvm::Expected<Toolchain> T = findToolchain(Context.Env, Context.OwnPath);
  if (!T)
    return T.takeError();
  ProcessRunner Runner;
  locateTools(*T, Runner);
  return T;
}

void carve::placeRequest(TuneRequest &Request, const Toolchain &T, const CommandContext &Context) {
  Request.Options.DevicesDir = Context.Install.DevicesDir;
  Request.Probe = {Context.Install.Probe, findCupti(T.BinDir).value_or("")};
  Request.Gpus = gpuPlaces(Context.Env);
}

llvm::Expected<TuningReport> carve::lastReport(GetEnv Env) {
  llvm::Expected<std::string> Root = storeFolder(Env);
  if (!Root)
    return Root.takeError();
  llvm::Expected<std::optional<std::string>> Text = UnitStore(*Root).lastReport();
  if (!Text)
    return Text.takeError();
  if (!*Text)
    return usageError("no tuning has been made with the store " + *Root);
  return parseJsonReport(**Text, "last report");
}

llvm::Expected<TuningReport> carve::namedReport(const std::string &Name, GetEnv Env) {
  if (Name == "latest")
    return lastReport(Env);
  llvm::Expected<std::string> Text = readFileOrPipe(Name, FileLimit::Record);
  if (!Text)
    return Text.takeError();
  if (llvm::StringRef(*Text).trim().empty())
    return usageError(Name + " is empty, expected what `carve report --format=json` prints");
  return parseJsonReport(*Text, Name);
}

llvm::Expected<CurrentProfiles> carve::currentProfiles(std::string Given, GetEnv Env) {
  if (!Given.empty() && !llvm::sys::fs::exists(Given))
    return usageError("there is no profile " + Given);
  if (Given.empty())
    Given = Env("CARVE_PROFILE").value_or("");
  llvm::SmallString<256> WorkDir;
  (void)llvm::sys::fs::current_path(WorkDir);
  llvm::Expected<CurrentProfiles> Profiles = CurrentProfiles::read(Given, WorkDir);
  if (Profiles && !Profiles->warning().empty())
    llvm::errs() << "carve: warning: " << Profiles->warning() << "\n";
  return Profiles;
}

llvm::Error carve::takeFolders(llvm::StringRef Command, std::vector<std::string> &Folders,
                               llvm::ArrayRef<std::string> Rest) {
  if (!Rest.empty())
    return usageError(Command + ": takes folders, not '" + Rest.front() + "' behind --");
  for (std::string &Folder : Folders) {
    if (!llvm::sys::fs::is_directory(Folder))
      return usageError(Command + ": '" + Folder + "' is no folder");
    Folder = normalisedPath(Folder);
  }
  return llvm::Error::success();
}
