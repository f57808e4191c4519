#include "Commands.h"
#include "Driver/CountedMetrics.h"
#include "Support/Error.h"

#include "llvm/Support/raw_ostream.h"

using namespace carve;

static llvm::Error runCounted(const MetricsOptions &Options, const CommandContext &Context) {
  std::optional<std::string> Root = storeRoot(Context.Env);
  if (!Root)
    return usageError("no store: CARVE_STORE, XDG_CACHE_HOME and HOME are all unset");
  if (!gpuPresent(Context.Env))
    return usageError("no GPU is present (no /dev/nvidia*, or CUDA_VISIBLE_DEVICES hides it); "
                      "--count runs the program on one");
  UnitStore Store(*Root);
  llvm::Expected<Toolchain> T = findToolchain(Context.Env, Context.OwnPath);
  if (!T)
    return T.takeError();
  TuneRequest Request = countRequest(Options);
  Request.Options.DevicesDir = Context.Install.DevicesDir;
  Request.Probe = {Context.Install.Probe, findCupti(T->BinDir).value_or("")};
  Request.Gpus = gpuPlaces(Context.Env);
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
  auto FindTools = [&] { return findToolchain(Context.Env, Context.OwnPath); };
  llvm::Expected<MetricsReport> Report =
      findMetrics(*Options, FindTools, Runner, Context.Install.DevicesDir);
  if (!Report)
    return Report.takeError();
  llvm::outs() << (Options->Json ? printMetricsJson(*Report) : printMetricsText(*Report));
  return llvm::Error::success();
}
