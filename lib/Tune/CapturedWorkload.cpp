#include "Tune/CapturedWorkload.h"

#include "Captures/File/UnitBundle.h"
#include "Support/Error.h"
#include "Support/Files.h"

using namespace carve;

llvm::Error carve::launchCaptures(llvm::StringRef Command, llvm::ArrayRef<std::string> Files,
                                  llvm::ArrayRef<std::string> More,
                                  std::vector<std::string> &Argv) {
  if (!Argv.empty())
    return usageError(Command + ": --from and a command exclude each other");
  Argv = {"carve-launch", "--repeat=3"};
  for (llvm::ArrayRef<std::string> Part : {Files, More})
    for (const std::string &File : Part)
      Argv.push_back(normalisedPath(File));
  return llvm::Error::success();
}

llvm::Error carve::openCaptures(const CommandContext &Context, std::vector<std::string> &Argv,
                                UnitStore &Store) {
  Argv.front() = Context.Install.Launch;
  for (const std::string &File : llvm::ArrayRef(Argv).drop_front(2)) {
    llvm::Expected<CaptureReader> Reader = CaptureReader::open(File);
    if (!Reader)
      return Reader.takeError();
    if (llvm::Error E = unbundleUnits(*Reader, Store))
      return E;
  }
  return llvm::Error::success();
}
