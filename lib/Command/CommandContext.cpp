#include "Command/CommandContext.h"

#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/Support/FileSystem.h"

using namespace carve;

char Differs::ID;
char CannotCompare::ID;

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

llvm::Error carve::takeFolders(llvm::StringRef Command, std::vector<std::string> &Folders,
                               llvm::ArrayRef<std::string> Rest) {
  if (!Rest.empty())
    return usageError(Command + ": expected folders, got '" + Rest.front() + "' after '--'");
  for (std::string &Folder : Folders) {
    if (!llvm::sys::fs::is_directory(Folder))
      return usageError(Command + ": '" + Folder + "' is not a directory");
    Folder = normalisedPath(Folder);
  }
  return llvm::Error::success();
}
