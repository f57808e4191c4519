#include "Tune/PlacedRequest.h"

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
          R.Workload.OutputFiles, R.SamplesPath};
}

void carve::placeRequest(TuneRequest &Request, const Toolchain &T, const CommandContext &Context) {
  Request.Options.DevicesDir = Context.Install.DevicesDir;
  Request.Probe = {Context.Install.Probe, findCupti(T.BinDir).value_or("")};
  Request.Gpus = gpuPlaces(Context.Env);
}
