#include "Explain/HardwareCounters.h"

#include "Support/Error.h"
#include "Support/Log.h"
#include "Tune/Job/TuningJob.h"
#include "Workload/CounterRecords.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace carve;

namespace {

/// Our metrics need this many passes on chips since Turing (CounterRecords.cpp).
constexpr unsigned MostPasses = 4;
/// The launches that are counted, after the first one, which may meet cold caches and low clocks.
constexpr uint64_t LaunchesCounted = 4;
/// Setting up the counters and reading them took 50 ms for each launch, and 0.9 s for the first one
/// (H200, driver 580). These bounds leave room for slower systems.
constexpr double SecondsPerLaunch = 0.2, SecondsToSetUp = 10;

/// Returns the launches of \p Kernel in its heaviest shape, summed over their entries.
KernelLaunches heaviestLaunches(const TracedKernel &Kernel) {
  KernelLaunches All;
  All.Kernel = Kernel.Kernel;
  All.Shape = heaviestShape(Kernel);
  for (const KernelLaunches &L : Kernel.Shapes)
    if (L.Shape == All.Shape) {
      All.Launches += L.Launches;
      All.TotalNs += L.TotalNs;
      All.Processes = std::max(All.Processes, L.Processes);
    }
  return All;
}

/// The runs of one program, one for each pass of metrics.
class CounterRuns {
public:
  CounterRuns(const TuneRequest &Request, CommandRunner &Runner, TimedGpus *Gpus,
              OutputCheck &Check)
      : Request(Request), Runner(Runner), Gpus(Gpus), Check(Check) {}

  /// Adds \p Kernel to the kernels to count.
  void want(const TracedKernel &Kernel);
  /// Makes the runs, until all metrics are read or a run does not count.
  llvm::Error make();
  CountedKernels result();

private:
  llvm::Expected<RunRecord> run(unsigned Pass);
  /// Returns why \p Run does not count, or nothing if it does.
  llvm::Expected<std::optional<std::string>> whyNot(const RunRecord &Run);
  /// Takes the kernels with a fault in \p Run out of what is counted. Returns whether there was
  /// one.
  bool leaveOutFaulted(const RunRecord &Run);
  /// Takes what \p Run counted. Returns false if another pass is not worth a run.
  bool take(RunRecord Run);

  const TuneRequest &Request;
  CommandRunner &Runner;
  TimedGpus *Gpus;
  OutputCheck &Check;
  std::vector<CountWish> Wishes;
  std::map<std::string, double> TracedNs;
  std::vector<CountedMetric> Counted;
  std::map<std::string, std::set<std::string>> Uncounted;
  std::string Refused;
  unsigned Passes = 0, Runs = 0;
};

void CounterRuns::want(const TracedKernel &Kernel) {
  if (Kernel.Shapes.empty())
    return;
  KernelLaunches L = heaviestLaunches(Kernel);
  // The probe numbers launches within each process.
  uint64_t Launches = std::max<uint64_t>(1, L.Launches / L.Processes);
  CountWish W;
  W.Kernel = L.Kernel;
  W.Shape = L.Shape;
  W.First = Launches > 1;
  W.Launches = std::min(LaunchesCounted, Launches - W.First);
  Wishes.push_back(std::move(W));
  if (L.Launches)
    TracedNs[L.Kernel] = double(L.TotalNs) / double(L.Launches);
}

llvm::Expected<RunRecord> CounterRuns::run(unsigned Pass) {
  ProbeSetup Probe = Request.Probe;
  Probe.Metrics = printCountWishes(Wishes, Pass);
  WorkloadSpec Spec = Request.Workload;
  Spec.TimeoutS += SecondsToSetUp;
  for (const CountWish &W : Wishes)
    Spec.TimeoutS += SecondsPerLaunch * double(W.Launches);
  ++Runs;
  auto Run = runWorkload(Spec, Probe, {}, Runner, /*Stretch=*/{}, Gpus);
  if (Run && Run->Interrupted)
    return interrupted(Run->Interrupted);
  return Run;
}

llvm::Expected<std::optional<std::string>> CounterRuns::whyNot(const RunRecord &Run) {
  if (Run.TimedOut)
    return "with counters the program ran longer than " +
           std::to_string(int(Request.Workload.TimeoutS)) + " s";
  auto Difference = Check.difference(Run.Output);
  if (!Difference)
    return Difference.takeError();
  if (*Difference)
    return "with counters, " + **Difference;
  if (auto Why = Run.Probe.whyIncomplete())
    return Why;
  // What was counted before the reason occurred is still valid.
  if (Run.Probe.Hardware.Counted.empty() && !Run.Probe.Uncounted.empty())
    return *Run.Probe.Uncounted.begin();
  return std::nullopt;
}

/// If a graph hangs because its nodes are launched one by one, the probe ends the program.
bool CounterRuns::leaveOutFaulted(const RunRecord &Run) {
  size_t Before = Wishes.size();
  for (const VariantFault &F : Run.Probe.InRun.Faults) {
    llvm::erase_if(Wishes, [&](const CountWish &W) { return W.Kernel == F.Kernel; });
    Uncounted[F.Kernel].insert(F.Why);
    logLine("not counted: " + F.Kernel + " " + F.Why);
  }
  return Wishes.size() < Before;
}

bool CounterRuns::take(RunRecord Run) {
  HardwareRecord &Record = Run.Probe.Hardware;
  Passes = std::max(Passes, Record.passes());
  llvm::append_range(Counted, Record.Counted);
  for (const auto &[Kernel, Reasons] : Record.Uncounted)
    Uncounted[Kernel].insert(Reasons.begin(), Reasons.end());
  for (const CountWish &W : Wishes)
    if (auto Reason = Run.Probe.whyInGraphs(W.Kernel))
      Uncounted[W.Kernel].insert(*Reason);
  for (const auto &[Metric, Reason] : Record.Missing)
    logLine("not counted: " + Metric + ": " + Reason);
  for (const std::string &Why : Run.Probe.Uncounted)
    logLine("counters: " + Why);
  return Run.Probe.Uncounted.empty();
}

llvm::Error CounterRuns::make() {
  for (unsigned Pass = 0; Pass == 0 || Pass < std::min(Passes, MostPasses); ++Pass) {
    auto Run = run(Pass);
    while (Run && leaveOutFaulted(*Run)) {
      if (Wishes.empty())
        return llvm::Error::success();
      Run = run(Pass);
    }
    if (!Run)
      return Run.takeError();
    auto Why = whyNot(*Run);
    if (!Why)
      return Why.takeError();
    if (*Why) {
      logLine("a run with counters does not count: " + **Why);
      Refused = **Why;
      return llvm::Error::success();
    }
    if (!take(std::move(*Run)))
      return llvm::Error::success();
  }
  return llvm::Error::success();
}

CountedKernels CounterRuns::result() {
  CountedKernels Result;
  Result.Runs = Runs;
  Result.Kernels = hardwareCounters(Counted, TracedNs);
  if (!Result.Kernels.empty())
    return Result;
  if (Refused.empty() && !Uncounted.empty())
    Refused = Uncounted.begin()->first + ": " + *Uncounted.begin()->second.begin();
  Result.Refused = Refused.empty() ? "no launch of the kernels could be counted" : Refused;
  return Result;
}

} // namespace

llvm::Expected<CountedKernels> carve::countHardware(const TuneRequest &Request,
                                                    const std::vector<TracedKernel> &Kernels,
                                                    CommandRunner &Runner, TimedGpus *Gpus,
                                                    OutputCheck *Check) {
  CountedKernels None;
  if (!Request.SamplesPath.empty())
    None.Refused = "the program is not run, because its samples were recorded before";
  else if (llvm::all_of(Kernels, [](const TracedKernel &K) { return K.Shapes.empty(); }))
    None.Refused = "there is no kernel to count";
  if (!None.Refused.empty())
    return None;
  auto RunDefault = [&](const probe::TimeStretch &Stretch) {
    return runWorkload(Request.Workload, Request.Probe, {}, Runner, Stretch, Gpus);
  };
  OutputCheck Own(RunDefault);
  if (!Check) {
    auto Plain = RunDefault({});
    if (!Plain)
      return Plain.takeError();
    if (Plain->Interrupted)
      return interrupted(Plain->Interrupted);
    Own.reference().addDefault(Plain->Output);
  }
  CounterRuns Runs(Request, Runner, Gpus, Check ? *Check : Own);
  for (const TracedKernel &K : Kernels)
    Runs.want(K);
  if (llvm::Error E = Runs.make())
    return E;
  CountedKernels Result = Runs.result();
  Result.Runs += Check ? 0 : 1 + Own.runs();
  return Result;
}
