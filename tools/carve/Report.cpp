#include "Commands.h"
#include "Driver/Flags.h"
#include "Report/JsonReport.h"
#include "Report/TextReport.h"
#include "Store/UnitStore.h"
#include "Support/Error.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;

llvm::Expected<TuningReport> carve::lastReport(GetEnv Env) {
  std::optional<std::string> Root = storeRoot(Env);
  if (!Root)
    return usageError("no store: CARVE_STORE, XDG_CACHE_HOME and HOME are all unset");
  llvm::Expected<std::optional<std::string>> Text = UnitStore(*Root).lastReport();
  if (!Text)
    return Text.takeError();
  if (!*Text)
    return usageError("no tuning has been made with the store " + *Root);
  return parseJsonReport(**Text, "last report");
}

llvm::Error carve::runReport(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  unsigned Format = 0;
  Flags F("carve report");
  F.choice("--format", {"text", "json"}, Format);
  std::vector<std::string> Positional, Rest;
  if (llvm::Error E = F.parse(Args, Positional, Rest))
    return E;
  if (!Positional.empty() || !Rest.empty())
    return usageError("carve report: takes no arguments, not '" +
                      (Positional.empty() ? Rest : Positional).front() + "'");
  llvm::Expected<TuningReport> R = lastReport(Context.Env);
  if (!R)
    return R.takeError();
  unsigned Columns = llvm::sys::Process::StandardOutColumns();
  llvm::outs() << (Format ? printJsonReport(*R) : printTextReport(*R, Columns ? Columns : 100));
  return llvm::Error::success();
}
