#include "Commands.h"
#include "Driver/MetricsPipeline.h"

#include "llvm/Support/raw_ostream.h"

using namespace carve;

llvm::Error carve::runMetrics(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  llvm::Expected<MetricsOptions> Options = parseMetricsOptions(Args);
  if (!Options)
    return Options.takeError();
  ProcessRunner Runner;
  auto FindTools = [&] { return findToolchain(Context.Env, Context.OwnPath); };
  llvm::Expected<MetricsReport> Report =
      findMetrics(*Options, FindTools, Runner, Context.Install.DevicesDir);
  if (!Report)
    return Report.takeError();
  llvm::outs() << (Options->Json ? printMetricsJson(*Report) : printMetricsText(*Report));
  return llvm::Error::success();
}
