#include "Tune/CapturedWorkload.h"

#include "Captures/File/UnitBundle.h"
#include "Support/Files.h"

using namespace carve;

llvm::Error carve::launchCaptures(llvm::ArrayRef<std::string> Files, const std::string &Launch,
                                  UnitStore &Store, std::vector<std::string> &Argv) {
  Argv = {Launch, "--repeat=3"};
  for (const std::string &File : Files) {
    Argv.push_back(normalisedPath(File));
    llvm::Expected<CaptureReader> Reader = CaptureReader::open(Argv.back());
    if (!Reader)
      return Reader.takeError();
    if (llvm::Error E = unbundleUnits(*Reader, Store))
      return E;
  }
  return llvm::Error::success();
}
