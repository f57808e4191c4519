#include "Compile/Fallback.h"

#include "Support/Error.h"
#include "Support/Log.h"

using namespace carve;

llvm::Error carve::fallBack(const Toolchain &T, const std::optional<UnitStore> &Store,
                            llvm::ArrayRef<std::string> Arguments, const Passthrough &Why) {
  logLine("handed to nvcc: " + Why.Reason + (Why.Detail.empty() ? "" : ": ") + Why.Detail);
  if (Store)
    Store->countPassthrough(Why.Reason);
  std::vector<std::string> Argv = {T.Nvcc};
  Argv.insert(Argv.end(), Arguments.begin(), Arguments.end());
  return replaceProcess(Argv);
}

void carve::countUntuned(UnitStore &Store, llvm::Error E, llvm::StringRef What) {
  llvm::handleAllErrors(
      std::move(E),
      [&](const Unsupported &U) {
        logLine(What + ": " + U.reason() + ": " + U.detail());
        Store.countPassthrough(U.reason());
      },
      [&](const llvm::ErrorInfoBase &Info) {
        logLine(What + ": " + Info.message());
        Store.countPassthrough("internal");
      });
}
