// Runs configurations as programs, compares their output with the reference's, and times them.
#include "Spaces/SearchRuns.h"

#include "Ptx/ProfileName.h"
#include "Spaces/SearchBuild.h"
#include "Support/Error.h"
#include "Tune/WholeRuns/SampleRecord.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <re2/re2.h>

using namespace carve;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// The program's name in sample files.
static constexpr char Subject[] = "program";

/// Returns the words of a run: the program with its arguments, or a launcher's command that
/// contains it.
static std::vector<std::string> runWords(const SearchRequest &Request, const std::string &Program) {
  std::vector<std::string> Words = Request.RunWords;
  if (llvm::is_contained(Words, "{}"))
    std::replace(Words.begin(), Words.end(), std::string("{}"), Program);
  else
    Words.insert(Words.begin(), Program);
  return Words;
}

llvm::Expected<RunRecord> carve::runProgram(SearchState &S, size_t Place,
                                            const probe::TimeStretch &Stretch) {
  if (llvm::Error E = buildPrograms(S, Place))
    return E;
  if (!S.at(Place).valid())
    return unsupported("workload-failed", S.at(Place).Macros.name() + " " + S.at(Place).Invalid);
  // All configurations run under one name, in case the program prints its name.
  std::string Link = S.Work->path() + "/run";
  if (std::error_code E = fs::create_directories(Link))
    return llvm::createFileError(Link, E);
  Link += "/" + path::filename(S.Line.Output).str();
  (void)fs::remove(Link);
  if (std::error_code E = fs::create_link(S.Programs[Place], Link))
    return llvm::createFileError(Link, E);
  WorkloadSpec Spec = S.Request.Workload;
  Spec.Argv = runWords(S.Request, Link);
  llvm::Expected<RunRecord> Run =
      runWorkload(Spec, S.Request.Probe, {}, S.Runner, Stretch, S.Gpus ? &*S.Gpus : nullptr);
  if (!Run)
    return Run.takeError();
  if (Run->Interrupted)
    return interrupted(Run->Interrupted);
  ++S.Record.Runs;
  return Run;
}

ProgramOutput carve::comparable(const SearchRequest &Request, ProgramOutput Output) {
  if (!Request.Metric.empty())
    re2::RE2::GlobalReplace(&Output.Stdout, Request.Metric, "");
  return Output;
}

/// Returns why the run does not count for its configuration, or an empty string.
static std::string whyNoCost(const SearchState &S, const RunRecord &Run) {
  if (Run.TimedOut)
    return "did not end within " + llvm::itostr(int(S.Request.Workload.TimeoutS)) + " s";
  if (!Run.succeeded()) {
    std::string Words = llvm::StringRef(Run.Stderr).trim().split('\n').first.str();
    return "ended with exit status " + std::to_string(Run.Output.ExitStatus) +
           (Words.empty() ? "" : ": " + Words);
  }
  if (!S.Request.Metric.empty())
    return "";
  if (auto Why = Run.Probe.whyIncomplete())
    return *Why;
  return Run.Probe.Kernels.empty() ? "launched no kernel" : "";
}

/// Returns the GPU time, or what the user's expression finds in the output.
static double costOf(const SearchRequest &Request, const RunRecord &Run, std::string &Fault) {
  if (Request.Metric.empty())
    return Run.Probe.totalNs();
  std::string Text;
  double Value = 0;
  if (!re2::RE2::PartialMatch(Run.Output.Stdout, Request.Metric, &Text) ||
      llvm::StringRef(Text).trim().getAsDouble(Value) || !(Value > 0)) {
    Fault = "--metric '" + Request.Metric + "' finds '" + Text +
            "' in the output, expected a number above 0";
    return 0;
  }
  return Request.LargerIsBetter ? 1 / Value : Value;
}

/// Returns the recorded cost of \p Place.
static llvm::Expected<ConfigurationRun> recordedRun(SearchState &S, size_t Place) {
  std::vector<std::vector<std::string>> Names(1);
  for (const SearchedConfiguration &C : S.Record.Configurations)
    Names.front().push_back(C.Macros.name());
  auto Sample = S.Samples.run({SubjectSpace{Subject, Names.front().size()}}, Names, {Place});
  if (!Sample)
    return Sample.takeError();
  return ConfigurationRun{Sample->SubjectNs.front(), Sample->WallS, ""};
}

/// Returns for each kernel the launches of the shape that took most time.
static TracedLaunches launchesOf(const ProbeRecord &Probe) {
  TracedLaunches Traced;
  std::map<std::string, uint64_t> Most;
  for (const KernelLaunches &K : Probe.Kernels) {
    uint64_t &Ns = Most[K.Kernel];
    if (K.TotalNs < Ns)
      continue;
    Ns = K.TotalNs;
    Traced[K.Kernel] = {K.Shape, double(K.Launches), LaunchSource::Trace, LaunchSource::Trace};
  }
  return Traced;
}

/// Returns a launch such as `16x16x1 threads in 128x128x1 blocks`.
static std::string textOf(const LaunchShape &Shape) {
  auto Extents = [](const std::array<unsigned, 3> &E) {
    return std::to_string(E[0]) + "x" + std::to_string(E[1]) + "x" + std::to_string(E[2]);
  };
  return Extents(Shape.Block) + " threads in " + Extents(Shape.Grid) + " blocks";
}

/// Adds a note on the first kernel whose launch differs from the launch for which its metrics were
/// computed.
static void compareLaunches(SearchState &S, size_t Place, const ProbeRecord &Probe) {
  TracedLaunches Seen = launchesOf(Probe);
  for (const SearchedKernel &K : S.at(Place).Kernels) {
    auto Found = Seen.find(K.Name);
    if (S.LaunchNoted || Found == Seen.end())
      continue;
    const ProgramLaunch &Real = Found->second;
    bool Same = Real.Shape.Block == K.Launch.Shape.Block &&
                (K.Launch.Grid == LaunchSource::Unknown ||
                 (Real.Shape.Grid == K.Launch.Shape.Grid && Real.Launches == K.Launch.Launches));
    if (Same)
      continue;
    S.LaunchNoted = true;
    S.Record.Notes.push_back(
        S.at(Place).Macros.name() + " launches " + profileName(K.Name) + " with " +
        textOf(Real.Shape) + ", " + std::to_string(uint64_t(Real.Launches)) +
        " times; its metrics are for " + textOf(K.Launch.Shape) + ", " +
        std::to_string(uint64_t(K.Launch.Launches)) +
        " times: give --block, --grid and --launches as the program launches it");
  }
}

/// Runs the reference of a recalled search again, so that other outputs can be compared with its
/// output.
static llvm::Error learnOutput(SearchState &S) {
  if (S.CheckLearnt || S.recorded())
    return llvm::Error::success();
  size_t Place = *S.Record.Reference;
  llvm::Expected<RunRecord> Run = runProgram(S, Place);
  if (!Run)
    return Run.takeError();
  if (std::string Why = whyNoCost(S, *Run); !Why.empty())
    return unsupported("workload-failed", S.at(Place).Macros.name() + " " + Why);
  S.Check.reference().addDefault(comparable(S.Request, Run->Output));
  S.Check.stretchTimeBy(revealingStretch(*Run));
  S.CheckLearnt = true;
  return llvm::Error::success();
}

llvm::Expected<ConfigurationRun> carve::runConfiguration(SearchState &S, size_t Place) {
  if (S.recorded())
    return recordedRun(S, Place);
  // Only known configurations may be left to confirm, because in a smaller space others are the
  // best. So the reference's output may not be known yet.
  if (llvm::Error E = learnOutput(S))
    return E;
  llvm::Expected<RunRecord> Run = runProgram(S, Place);
  if (!Run)
    return Run.takeError();
  ConfigurationRun Result;
  Result.WallS = Run->WallS;
  Result.Fault = whyNoCost(S, *Run);
  if (Result.Fault.empty())
    Result.Cost = costOf(S.Request, *Run, Result.Fault);
  if (!Result.Fault.empty())
    return Result;
  compareLaunches(S, Place, Run->Probe);
  if (Place == S.Record.Reference) {
    S.Check.reference().addDefault(comparable(S.Request, Run->Output));
  } else {
    auto Difference = S.Check.difference(comparable(S.Request, Run->Output));
    if (!Difference)
      return Difference.takeError();
    Result.Fault = Difference->value_or("");
  }
  if (Result.Fault.empty() && !S.Request.RecordPath.empty()) {
    S.Samples.add(Subject, S.at(Place).Macros.name(), Result.Cost);
    S.Samples.addProgram(0, Result.WallS);
  }
  return Result;
}

/// Takes the GPU and the launches from a run of the reference.
static void learn(SearchState &S, const ProbeRecord &Probe) {
  S.Traced = launchesOf(Probe);
  if (Probe.Devices.empty())
    return;
  const DeviceInfo &Device = Probe.Devices.front();
  S.Record.Device = Device.Name;
  S.Record.Sms = Device.Sms;
  // An architecture such as sm_90a is kept on an sm_90 device: it has the same limits, and the code
  // is written for it.
  if (S.Request.Arch.empty() && !llvm::StringRef(S.Record.Arch).starts_with(Device.arch()))
    S.Record.Arch = Device.arch();
}

/// Reads the recorded times, and their trace unless the search was recalled.
static llvm::Error readSamples(SearchState &S) {
  const std::string &Path = S.Request.SamplesPath;
  llvm::Expected<SampleRecord> Read = SampleRecord::read(Path);
  if (!Read)
    return Read.takeError();
  S.Samples = std::move(*Read);
  llvm::Expected<ProbeRecord> Trace = S.Samples.trace(Path);
  if (!Trace)
    return Trace.takeError();
  if (!S.Recalled)
    learn(S, *Trace);
  return llvm::Error::success();
}

llvm::Error carve::traceReference(SearchState &S) {
  if (S.recorded())
    if (llvm::Error E = readSamples(S))
      return E;
  if (S.Recalled || S.recorded() || !S.Record.NotTimed.empty())
    return llvm::Error::success();
  // The first configurations of a space may be impossible to build or run. If all of the first ones
  // are, the space is a mistake.
  constexpr size_t MostTried = 16;
  for (size_t I = 0; I < std::min(MostTried, S.Record.Configurations.size()); ++I) {
    S.Request.Progress->step("building", 0, 1);
    if (llvm::Error E = buildPrograms(S, I))
      return E;
    if (!S.at(I).valid())
      continue;
    llvm::Expected<RunRecord> Run = runProgram(S, I);
    if (!Run)
      return Run.takeError();
    S.at(I).Invalid = whyNoCost(S, *Run);
    if (!S.at(I).valid())
      continue;
    S.Record.Reference = I;
    std::vector<std::string> Uuids;
    for (const DeviceInfo &D : Run->Probe.Devices)
      Uuids.push_back(D.Uuid);
    if (!Uuids.empty())
      S.Gpus->use(Uuids);
    learn(S, Run->Probe);
    if (!S.Request.RecordPath.empty())
      S.Samples.setTrace(Run->Probe);
    S.Check.reference().addDefault(comparable(S.Request, Run->Output));
    S.Check.stretchTimeBy(revealingStretch(*Run));
    S.CheckLearnt = true;
    return llvm::Error::success();
  }
  return unsupported("no configuration runs", S.at(0).Macros.name() + ": " + S.at(0).Invalid);
}

/// Returns what is to be timed: the selected configurations, or all valid ones.
static TimingTask taskOf(const SearchRecord &Record) {
  TimingTask Task;
  Task.Reference = *Record.Reference;
  for (size_t I = 0; I < Record.Configurations.size(); ++I) {
    const SearchedConfiguration &C = Record.Configurations[I];
    if (!C.valid())
      continue;
    if (C.selected() || Record.Exhaustive)
      Task.Candidates.push_back(I);
    if (C.selected())
      Task.Favoured.push_back(I);
  }
  return Task;
}

/// Removes from \p Task what cannot be built.
static void dropInvalid(const SearchRecord &Record, TimingTask &Task) {
  auto Invalid = [&](size_t P) { return !Record.Configurations[P].valid(); };
  llvm::erase_if(Task.Candidates, Invalid);
  llvm::erase_if(Task.Favoured, Invalid);
}

/// Builds the programs that will be run.
static llvm::Error buildCandidates(SearchState &S, TimingTask &Task) {
  std::vector<size_t> Unknown;
  for (size_t P : Task.Candidates)
    // If only the reference is left, it has nothing to be compared with and is not run.
    if (P != Task.Reference && !S.at(P).Times.measured())
      Unknown.push_back(P);
  if (S.recorded() || Unknown.empty())
    return llvm::Error::success();
  Unknown.push_back(Task.Reference);
  if (llvm::Error E = buildPrograms(S, Unknown))
    return E;
  for (size_t P : Unknown)
    if (!S.at(P).valid())
      S.at(P).Verdict = {CarvedBy::Invalid, S.at(P).Invalid};
  dropInvalid(S.Record, Task);
  return llvm::Error::success();
}

llvm::Error carve::timeSpace(SearchState &S) {
  SearchRecord &Record = S.Record;
  if (!Record.Reference || !S.at(*Record.Reference).valid()) {
    auto First = llvm::find_if(Record.Configurations, [](const auto &C) { return C.valid(); });
    if (First == Record.Configurations.end()) {
      Record.NotTimed = "no configuration is valid, the first is: " + S.at(0).Invalid;
      return llvm::Error::success();
    }
    Record.Reference = First - Record.Configurations.begin();
  }
  auto Start = std::chrono::steady_clock::now();
  TimingTask Task = taskOf(Record);
  if (llvm::Error E = buildCandidates(S, Task))
    return E;
  std::vector<ConfigurationTimes> Times;
  for (SearchedConfiguration &C : Record.Configurations)
    Times.push_back(C.Times);
  auto Verdict = timeConfigurations(
      Times, Task, S.Request.Limits, [&](size_t P) { return runConfiguration(S, P); },
      *S.Request.Progress);
  // This also keeps the times of a search that was interrupted.
  for (size_t I = 0; I < Times.size(); ++I) {
    if (Times[I].Costs.size() > S.at(I).Times.Costs.size())
      S.at(I).FromStore = false;
    S.at(I).Times = std::move(Times[I]);
  }
  if (!Verdict)
    return Verdict.takeError();
  Record.Winner = Verdict->Winner;
  Record.WinnerRatio = Verdict->Ratio;
  Record.Timed = Verdict->Timed;
  Record.Runs += S.recorded() ? Verdict->Runs : 0;
  Record.TimeS = secondsSince(Start) - Record.BuildS;
  if (!S.Request.RecordPath.empty())
    return writeFileAtomically(S.Request.RecordPath, S.Samples.print());
  return llvm::Error::success();
}
