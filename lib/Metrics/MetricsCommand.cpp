#include "Metrics/MetricsCommand.h"

#include "Metrics/CountedMetrics.h"
#include "Store/StoreFolder.h"
#include "Support/Error.h"
#include "Tune/PlacedRequest.h"

#include "llvm/Support/raw_ostream.h"

using namespace carve;

static llvm::Error runCounted(const MetricsOptions &Options, const CommandContext &Context) {
  llvm::Expected<std::string> Root = storeFolder(Context.Env);
  if (!Root)
    return Root.takeError();
  if (llvm::Error E = needGpu(Context.Env, "--count runs the program on one"))
    return E;
  UnitStore Store = storeAt(*Root, Context.Env);
  llvm::Expected<Toolchain> T = toolchainOf(Context);
  if (!T)
    return T.takeError();
  TuneRequest Request = countRequest(Options);
  placeRequest(Request, *T, Context);
  ProcessRunner Runner;
  llvm::Expected<MetricsReport> Report = countMetrics(Options, Request, Store, *T, Runner);
  if (!Report)
    return Report.takeError();
  llvm::outs() << (Options.Json ? printMetricsJson(*Report) : printMetricsText(*Report));
  return llvm::Error::success();
}

llvm::Error carve::runMetrics(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  llvm::Expected<MetricsOptions> Options = parseMetricsOptions(Args);
  if (!Options)
    return Options.takeError();
  if (Options->Count)
    return runCounted(*Options, Context);
  ProcessRunner Runner;
  auto FindTools = [&] { return toolchainOf(Context); };
  llvm::Expected<MetricsReport> Report =
      findMetrics(*Options, FindTools, Runner, Context.Install.DevicesDir);
  if (!Report)
    return Report.takeError();
  llvm::outs() << (Options->Json ? printMetricsJson(*Report) : printMetricsText(*Report));
  return llvm::Error::success();
}
