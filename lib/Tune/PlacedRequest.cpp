#include "Tune/PlacedRequest.h"

#include "Report/Terminal.h"
#include "Tune/CapturedWorkload.h"
#include "Tune/TunedWorkload.h"

#include <unistd.h>

using namespace carve;

TuneRequest carve::requestToTune() {
  TuneRequest Request;
  Request.Options.Entries = FurtherEntries::Values;
  Request.Options.LeastShare = LeastTunedShare;
  return Request;
}

TuningValues carve::valuesOf(TuneRequest &R) {
  return {R.Workload.TimeoutS,    R.Limits.MaxRuns, R.Limits.BudgetS, R.Mode,
          &R.Options.Effort,      &R.Options.Scope, R.Options.Domain, R.Options.Entries,
          R.Workload.OutputFiles, R.SamplesPath,    &R.OnGpus};
}

void carve::placeRequest(TuneRequest &Request, const Toolchain &T, const CommandContext &Context) {
  Request.Options.DevicesDir = Context.Install.DevicesDir;
  Request.Probe = {Context.Install.Probe, findCupti(T.BinDir).value_or("")};
  Request.Gpus = gpuPlaces(Context.Env);
  if (Request.Workload.Environment.empty())
    Request.Workload.Environment = workloadEnvironment(Context.Env);
}

llvm::Expected<TuneResult> carve::tunePlaced(TuneRequest &Request,
                                             llvm::ArrayRef<std::string> Captures,
                                             llvm::StringRef Purpose, bool Quiet, UnitStore &Store,
                                             const CommandContext &Context) {
  if (Request.SamplesPath.empty())
    if (llvm::Error E = needGpu(Context.Env, Purpose))
      return E;
  Request.Captures = Captures.vec();
  if (!Captures.empty())
    if (llvm::Error E =
            launchCaptures(Captures, Context.Install.Launch, Store, Request.Workload.Argv))
      return E;
  llvm::Expected<Toolchain> T = toolchainOf(Context);
  if (!T)
    return T.takeError();
  placeRequest(Request, *T, Context);
  TerminalProgress Progress({.Program = "carve", .Line = ::isatty(2) && !Quiet, .Notes = !Quiet});
  Request.Progress = &Progress;
  ProcessRunner Runner;
  llvm::Expected<TuneResult> Result = tune(Request, Store, *T, Runner);
  Progress.clear();
  Request.Progress = &silentProgress();
  return Result;
}
