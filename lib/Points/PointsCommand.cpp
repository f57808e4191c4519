#include "Points/PointsCommand.h"

#include "Points/PointsPipeline.h"

#include "llvm/Support/raw_ostream.h"

using namespace carve;

llvm::Error carve::runPoints(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  llvm::Expected<PointsOptions> Options = parsePointsOptions(Args);
  if (!Options)
    return Options.takeError();
  llvm::Expected<Toolchain> T = toolchainOf(Context);
  if (!T)
    return T.takeError();
  ProcessRunner Runner;
  llvm::Expected<PointsReport> Report =
      findPoints(*Options, *T, Runner, Context.Install.DevicesDir);
  if (!Report)
    return Report.takeError();
  llvm::outs() << (Options->Json ? printPointsJson(*Report) : printPointsText(*Report));
  return llvm::Error::success();
}
