#include "Tune/TuneTrace.h"

#include "Support/Error.h"
#include "Tune/TuneGpus.h"

#include "llvm/ADT/StringExtras.h"

using namespace carve;

std::optional<std::string> carve::whyUntraceable(const RunRecord &Run, double TimeoutS) {
  if (Run.TimedOut)
    return "the program did not end within " + llvm::itostr(int(TimeoutS)) + " s";
  if (!Run.succeeded())
    return "the program ended with exit status " + std::to_string(Run.Output.ExitStatus);
  if (auto Why = Run.Probe.whyIncomplete())
    return Why;
  if (Run.Probe.Processes == 0)
    return std::string("the program launched no kernel: no process of it initialised CUDA under "
                       "the probe (it uses no GPU, or runs without the environment that it was "
                       "given, as with env -i, sudo, or a set-user-ID bit)");
  if (Run.Probe.Kernels.empty())
    return std::string("the program launched no kernel");
  return Run.Probe.whyMixed();
}

/// Makes one run of the default, with its time stretched by \p Stretch. Fails if it does not count.
static llvm::Expected<RunRecord> runDefault(TuneState &State,
                                            const probe::TimeStretch &Stretch = {}) {
  const TuneRequest &Request = State.Request;
  Request.Progress->runs(State.Runs, 0, State.seconds());
  llvm::Expected<RunRecord> Run =
      runWorkload(State.workload(), Request.Probe, {}, State.Runner, Stretch, State.gpus());
  if (!Run)
    return Run.takeError();
  ++State.Runs;
  if (Run->Interrupted)
    return interrupted(Run->Interrupted);
  if (auto Why = whyUntraceable(*Run, Request.Workload.TimeoutS))
    return untraceable(*Why);
  State.Check.reference().addDefault(Run->Output);
  return Run;
}

/// Makes the first run of the program, on all chosen GPUs at once if there are several.
static llvm::Expected<RunRecord> runFirst(TuneState &State) {
  if (State.Several.size() > 1) {
    llvm::Expected<std::optional<RunRecord>> OnSeveral = traceOnSeveral(State);
    if (!OnSeveral)
      return OnSeveral.takeError();
    if (*OnSeveral)
      return std::move(**OnSeveral);
  }
  return runDefault(State);
}

static llvm::Expected<ProbeRecord> recordedTrace(TuneState &State) {
  const std::string &Path = State.Request.SamplesPath;
  llvm::Expected<SampleRecord> Read = SampleRecord::read(Path);
  if (!Read)
    return Read.takeError();
  State.Samples = std::move(*Read);
  State.setBudget();
  return State.Samples.trace(Path);
}

llvm::Expected<ProbeRecord> carve::traceProgram(TuneState &State) {
  if (State.recorded())
    return recordedTrace(State);
  llvm::Expected<RunRecord> First = runFirst(State);
  if (!First)
    return First.takeError();
  State.Traced = State.Runs;
  State.PlainWallS = First->WallS;
  State.PlainSpanNs = double(First->Probe.SpanNs);
  State.setBudget();
  std::vector<std::string> Uuids;
  for (const DeviceInfo &D : First->Probe.Devices)
    Uuids.push_back(D.Uuid);
  State.Gpus->use(Uuids);
  probe::TimeStretch Stretch = revealingStretch(*First);
  if (State.timesInside()) {
    State.Check.stretchTimeBy(Stretch);
  } else {
    llvm::Expected<RunRecord> Stretched = runDefault(State, Stretch);
    if (!Stretched)
      return Stretched.takeError();
  }
  State.Samples.setTrace(First->Probe);
  return std::move(First->Probe);
}
