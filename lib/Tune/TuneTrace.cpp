#include "Tune/TuneTrace.h"

#include "Support/Error.h"

#include "llvm/ADT/StringExtras.h"

using namespace carve;

/// Why nothing can be tuned from \p Run, or nothing if tuning can go on.
static std::optional<std::string> whyUntraceable(const RunRecord &Run, double TimeoutS) {
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

/// Makes one run of the default, with \p DelayNs at every launch. Fails if it does not count.
static llvm::Expected<RunRecord> runDefault(TuneState &State, uint64_t DelayNs) {
  const TuneRequest &Request = State.Request;
  Request.Progress->runs(State.Runs, 0, State.seconds());
  llvm::Expected<RunRecord> Run =
      runWorkload(Request.Workload, Request.Probe, {}, State.Runner, DelayNs, State.gpus());
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
  llvm::Expected<RunRecord> First = runDefault(State, 0);
  if (!First)
    return First.takeError();
  State.PlainWallS = First->WallS;
  State.setBudget();
  std::vector<std::string> Uuids;
  for (const DeviceInfo &D : First->Probe.Devices)
    Uuids.push_back(D.Uuid);
  State.Gpus->use(Uuids);
  uint64_t DelayNs = revealingDelayNs(*First);
  if (State.timesInside()) {
    State.Check.revealTimeBy(DelayNs);
  } else {
    llvm::Expected<RunRecord> Slowed = runDefault(State, DelayNs);
    if (!Slowed)
      return Slowed.takeError();
  }
  State.Samples.setTrace(First->Probe);
  return std::move(First->Probe);
}
