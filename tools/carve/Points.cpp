#include "Points.h"

#include "Points/PointsPipeline.h"

using namespace carve;

llvm::Error carve::runPoints(llvm::ArrayRef<std::string> Args, const Toolchain &T,
                             CommandRunner &Runner, llvm::StringRef DevicesDir,
                             llvm::raw_ostream &OS) {
  llvm::Expected<PointsOptions> Options = parsePointsOptions(Args);
  if (!Options)
    return Options.takeError();
  llvm::Expected<PointsReport> Report = findPoints(*Options, T, Runner, DevicesDir);
  if (!Report)
    return Report.takeError();
  OS << (Options->Json ? printPointsJson(*Report) : printPointsText(*Report));
  return llvm::Error::success();
}
