#include "Tune/CapturedWorkload.h"

#include "Captures/File/UnitBundle.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

llvm::Error carve::readWorkloadWords(llvm::StringRef Command, std::vector<std::string> &Captures,
                                     std::vector<std::string> Words,
                                     llvm::ArrayRef<std::string> Argv) {
  if (!Captures.empty() && !Argv.empty())
    return usageError(Command + ": --from and a command exclude each other");
  if (Captures.empty() && !Words.empty())
    return usageError(Command + ": unexpected '" + Words.front() +
                      "', expected the command after '--'");
  if (Captures.empty() && Argv.empty())
    return usageError(Command + ": no command, expected: " + Command + " -- COMMAND...");
  llvm::append_range(Captures, Words);
  return llvm::Error::success();
}

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
