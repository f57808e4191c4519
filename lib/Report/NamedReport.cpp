#include "Report/NamedReport.h"

#include "Report/JsonReport.h"
#include "Store/StoreFolder.h"
#include "Store/UnitStore.h"
#include "Support/Error.h"
#include "Support/Files.h"

using namespace carve;

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
