#include "Driver/TunePipeline.h"

#include "Report/JsonReport.h"
#include "Support/Error.h"
#include "Support/Log.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <chrono>
#include <ctime>
#include <unistd.h>

using namespace carve;

namespace {

std::string utcNow() {
  std::time_t Now = std::time(nullptr);
  std::tm Parts;
  gmtime_r(&Now, &Parts);
  char Text[32];
  std::strftime(Text, sizeof(Text), "%Y-%m-%dT%H:%M:%SZ", &Parts);
  return Text;
}

class TunePipeline {
public:
  TunePipeline(const TuneRequest &Request, UnitStore &Store, const Toolchain &T,
               CommandRunner &Runner)
      : Request(Request), Store(Store), T(T), Runner(Runner),
        Start(std::chrono::steady_clock::now()) {
    if (Request.SamplesPath.empty())
      Gpus.emplace(Request.Gpus, llvm::join(Request.Workload.Argv, " "), Request.Waiting);
  }

  llvm::Expected<TuneResult> run();

private:
  llvm::Expected<ProbeRecord> trace();
  llvm::Expected<ProbeRecord> traceWorkload();
  std::optional<std::string> whyUntraceable(const RunRecord &Run) const;
  llvm::Expected<SelectionOutcome> select(const TuningJob &Job);
  llvm::Error remember(const TuningJob &Job, const SelectionOutcome &Outcome, TuneResult &Result);
  Profile rememberUnit(const std::string &Key, const Profile &New);
  llvm::Error writeProfile(const Profile &Tuned) const;
  void finish(TuningReport &Report);
  void describeHost(const ProbeRecord &Trace, TuningReport &Report);
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - Start).count();
  }

  const TuneRequest &Request;
  UnitStore &Store;
  const Toolchain &T;
  CommandRunner &Runner;
  std::chrono::steady_clock::time_point Start;
  std::optional<TimedGpus> Gpus; ///< Absent with recorded samples.
  OutputReference Reference;
  SampleRecord Samples;
  unsigned TraceRuns = 0;
  double PlainWallS = 0;
};

/// Why nothing can be tuned from this run, or nothing.
std::optional<std::string> TunePipeline::whyUntraceable(const RunRecord &Run) const {
  if (Run.TimedOut)
    return "the program did not end within " + llvm::itostr(int(Request.Workload.TimeoutS)) + " s";
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

/// Two runs of the default: the first traced, the second held back at every launch, to see which
/// lines of the output change by themselves or with time.
llvm::Expected<ProbeRecord> TunePipeline::traceWorkload() {
  std::optional<ProbeRecord> First;
  uint64_t DelayNs = 0;
  for (int I = 0; I < 2; ++I) {
    Request.Progress(TraceRuns, 0, seconds());
    llvm::Expected<RunRecord> Run =
        runWorkload(Request.Workload, Request.Probe, {}, Runner, DelayNs, &*Gpus);
    if (!Run)
      return Run.takeError();
    ++TraceRuns;
    if (Run->Interrupted)
      return unsupported("interrupted", llvm::Twine(Run->Interrupted));
    if (auto Why = whyUntraceable(*Run))
      return unsupported("untraceable", *Why);
    Reference.addDefault(Run->Output);
    if (First)
      continue;
    PlainWallS = Run->WallS;
    DelayNs = revealingDelayNs(*Run);
    std::vector<std::string> Uuids;
    for (const DeviceInfo &D : Run->Probe.Devices)
      Uuids.push_back(D.Uuid);
    Gpus->use(Uuids);
    First = std::move(Run->Probe);
  }
  return std::move(*First);
}

llvm::Expected<ProbeRecord> TunePipeline::trace() {
  if (Request.SamplesPath.empty())
    return traceWorkload();
  llvm::Expected<std::string> Text = readFile(Request.SamplesPath);
  if (!Text)
    return Text.takeError();
  llvm::Expected<SampleRecord> Read = SampleRecord::parse(*Text, Request.SamplesPath);
  if (!Read)
    return Read.takeError();
  Samples = std::move(*Read);
  return Samples.trace(Request.SamplesPath);
}

llvm::Expected<SelectionOutcome> TunePipeline::select(const TuningJob &Job) {
  TuningScope Scope = Request.Options.Scope;
  std::vector<SubjectSpace> Subjects = subjectsOf(Job, Scope);
  auto Progress = [&](unsigned Done, unsigned Expected) {
    Request.Progress(TraceRuns + Done, TraceRuns + Expected, seconds());
  };
  if (!Request.SamplesPath.empty()) {
    std::vector<std::vector<std::string>> Names = variantNames(Job, Scope);
    return selectVariants(
        Subjects, Request.Limits,
        [&](const Assignment &A) { return Samples.run(Subjects, Names, A); }, Progress);
  }
  llvm::Expected<TempDir> Images = TempDir::create("carve-images");
  if (!Images)
    return Images.takeError();
  WorkloadSampler Sampler(Job, Scope, Request.Workload, Request.Probe, Runner, Reference,
                          Images->path());
  Sampler.timeOn(&*Gpus);
  if (!Request.RecordPath.empty())
    Sampler.recordInto(&Samples);
  auto Outcome = selectVariants(
      Subjects, Request.Limits, [&](const Assignment &A) { return Sampler.run(A); }, Progress);
  if (Outcome && !Request.RecordPath.empty())
    if (llvm::Error E = writeFileAtomically(Request.RecordPath, Samples.print()))
      return E;
  return Outcome;
}

/// \p Tuned into the user's profile, beside what stands there.
llvm::Error TunePipeline::writeProfile(const Profile &Tuned) const {
  if (Request.ProfilePath.empty())
    return llvm::Error::success();
  Profile All;
  std::string Before;
  if (llvm::sys::fs::exists(Request.ProfilePath)) {
    llvm::Expected<std::string> Text = readFile(Request.ProfilePath);
    llvm::Expected<Profile> Old =
        Text ? parseProfile(*Text, Request.ProfilePath) : Text.takeError();
    if (!Old)
      return Old.takeError(); // Never overwrite what cannot be read.
    All = std::move(*Old);
    Before = printProfile(All);
  }
  All.adopt(Tuned);
  if (Tuned.FileCap)
    All.FileCap = Tuned.FileCap;
  // Where nothing changed, comments and layout of people stay too.
  std::string After = printProfile(All);
  return After == Before ? llvm::Error::success() : writeFileAtomically(Request.ProfilePath, After);
}

/// \p New into the store, beside the unit's decisions for other architectures and kernels.
Profile TunePipeline::rememberUnit(const std::string &Key, const Profile &New) {
  Profile All, Before;
  if (auto Old = Store.decisions(Key); Old && *Old) {
    if (auto Read = parseProfile(**Old, Key))
      All = Before = std::move(*Read);
    else
      llvm::consumeError(Read.takeError()); // Damaged: the new ones replace it.
  } else if (!Old) {
    llvm::consumeError(Old.takeError());
  }
  All.adopt(New);
  All.FileCap = New.FileCap;
  // What changes nothing in an object rebuilds nothing.
  DecisionDate Date = choicesOf(All) == choicesOf(Before) ? DecisionDate::Kept : DecisionDate::New;
  if (llvm::Error E = Store.putDecisions(Key, printProfile(All), Date))
    logLine("decisions not kept: " + llvm::toString(std::move(E)));
  return All;
}

llvm::Error TunePipeline::remember(const TuningJob &Job, const SelectionOutcome &Outcome,
                                   TuneResult &Result) {
  Profile Tuned;
  for (size_t M = 0; M < Job.Modules.size(); ++M) {
    if (Job.Modules[M].Kernels.empty()) // All were put aside when it could not be linked.
      continue;
    Profile New = decisionsFor(Job, M, Request.Options.Scope, Outcome, Result.Report);
    for (const Decision &D : New.Kernels)
      Tuned.put(D);
    if (New.FileCap)
      Tuned.FileCap = New.FileCap;
    const std::string &Key = Job.Modules[M].Source.Key;
    Result.Decisions[Key] = rememberUnit(Key, New);
    for (const Unit &Twin : Job.Modules[M].Twins)
      Result.Decisions[Twin.Key] = rememberUnit(Twin.Key, New);
  }
  return writeProfile(Tuned);
}

/// Where the program ran, and who else was there.
void TunePipeline::describeHost(const ProbeRecord &Trace, TuningReport &Report) {
  Report.Processes = Trace.Processes;
  Report.Gpus = Trace.Devices.size();
  if (!Gpus)
    return;
  (void)Gpus->take(); // A last look.
  Report.OtherUsers = Gpus->otherUsers();
}

void TunePipeline::finish(TuningReport &Report) {
  Report.WallS = seconds();
  Report.PlainWallS = PlainWallS;
  Report.Runs += TraceRuns;
  Report.UnstableLines = Reference.unstableLines();
  Report.Unordered = Reference.unordered();
  if (llvm::Error E =
          Store.putReport(Report.Date + "-" + std::to_string(::getpid()), printJsonReport(Report)))
    logLine("report not kept: " + llvm::toString(std::move(E)));
}

llvm::Expected<TuneResult> TunePipeline::run() {
  TuneResult Result;
  auto Head = [&](TuningReport &Report) {
    Report.Date = utcNow();
    Report.Workload = llvm::join(Request.Workload.Argv, " ");
    Report.Domain = Request.Options.Domain == LaunchDomain::Traced ? "traced" : "preserve";
  };
  llvm::Expected<ProbeRecord> Trace = trace();
  if (!Trace) {
    Head(Result.Report);
    // A program that cannot be traced is a result; everything else is an error.
    llvm::Error Rest =
        llvm::handleErrors(Trace.takeError(), [&](const Unsupported &U) -> llvm::Error {
          if (U.reason() != "untraceable")
            return unsupported(U.reason(), U.detail());
          Result.Report.Note = U.detail();
          return llvm::Error::success();
        });
    if (Rest)
      return Rest;
    finish(Result.Report);
    return Result;
  }
  Samples.setTrace(*Trace);
  llvm::Expected<TuningJob> Job =
      prepareJob(*Trace, Store, T, Runner, Request.Options, !Request.SamplesPath.empty());
  if (!Job)
    return Job.takeError();
  llvm::Expected<SelectionOutcome> Outcome = select(*Job);
  if (!Outcome)
    return Outcome.takeError();
  Result.Report = describeTuning(*Job, Request.Options.Scope, *Outcome);
  Head(Result.Report);
  describeHost(*Trace, Result.Report);
  if (!Job->Modules.empty())
    Result.Report.NvccVersion = Job->Modules.front().Source.NvccVersion;
  llvm::Error Kept = remember(*Job, *Outcome, Result);
  finish(Result.Report);
  if (Kept)
    return Kept;
  return Result;
}

} // namespace

llvm::Expected<TuneResult> carve::tune(const TuneRequest &Request, UnitStore &Store,
                                       const Toolchain &T, CommandRunner &Runner) {
  return TunePipeline(Request, Store, T, Runner).run();
}
