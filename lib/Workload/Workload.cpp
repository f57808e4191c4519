#include "Workload/Workload.h"

#include "Nvcc/Toolchain.h"
#include "Protocol/Protocol.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Workload/PrintedTimes.h"
#include "Workload/TimedGpus.h"
#include "Workload/WorkloadProcesses.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <set>
#include <unistd.h>

using namespace carve;

std::optional<std::string> carve::findCupti(llvm::StringRef BinDir) {
  llvm::SmallString<256> Root(BinDir);
  Root += "/..";
  for (const char *Dir :
       {"lib64", "extras/CUPTI/lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib"})
    for (const char *Name : {"libcupti.so", "libcupti.so.13", "libcupti.so.12"}) {
      std::string Path = (Root + "/" + Dir + "/" + Name).str();
      llvm::SmallString<256> Real;
      if (!llvm::sys::fs::real_path(Path, Real))
        return Real.str().str();
    }
  return std::nullopt;
}

namespace {

ProgramOutput collectOutput(const WorkloadSpec &Spec, CommandResult &Result) {
  ProgramOutput Output;
  Output.ExitStatus = Result.ExitStatus;
  Output.Stdout = std::move(Result.Stdout);
  for (const std::string &File : Spec.OutputFiles) {
    llvm::Expected<std::string> Bytes = readFile(absolutePath(File, Spec.Dir), FileLimit::None);
    Output.FileDigests[File] = Bytes ? digestOf(*Bytes) : "-";
    if (!Bytes)
      llvm::consumeError(Bytes.takeError());
  }
  return Output;
}

llvm::Error writeImageList(llvm::StringRef Path, const ImageMap &Images) {
  std::string Text;
  for (const auto &[Digest, Image] : Images)
    Text += Digest + "\t" + Image + "\n";
  return writeFileAtomically(Path, Text);
}

/// The command that runs the workload under the probe, which writes its records into \p Records.
Command probedCommand(const WorkloadSpec &Spec, const ProbeSetup &Probe, const std::string &Records,
                      const probe::TimeStretch &Stretch) {
  Command C;
  C.Argv = Spec.Argv;
  C.Dir = Spec.Dir;
  C.CaptureStdout = C.CaptureStderr = true;
  C.TimeoutS = Spec.TimeoutS;
  C.StdinPath = Spec.StdinPath;
  C.Environment = {std::string(probe::InjectionVariable) + "=" + Probe.Library,
                   std::string(probe::DirVariable) + "=" + Records,
                   // A compile inside the workload must not start another tuning.
                   "CARVE_RUN=none",
                   // Such a compile must find nvcc as a compile outside the workload does.
                   CallersVariable,
                   // A kernel is timed as a whole, and further entries would take launches from it.
                   std::string(probe::EntriesVariable) + "=off"};
  C.Environment.insert(C.Environment.end(), Spec.Environment.begin(), Spec.Environment.end());
  if (!Probe.Cupti.empty())
    C.Environment.push_back(std::string(probe::CuptiVariable) + "=" + Probe.Cupti);
  if (!Probe.Counters.empty())
    C.Environment.push_back(std::string(probe::CountersVariable) + "=" +
                            llvm::join(Probe.Counters, ","));
  if (Stretch.any())
    C.Environment.push_back(std::string(probe::StretchVariable) + "=" + Stretch.text());
  return C;
}

/// Reads the records in \p Dir. If processes still run after the program has ended, waits up to 2 s
/// for them, because a launcher may not wait for the last of its ranks.
llvm::Expected<ProbeRecord> collectRecords(const std::string &Dir) {
  constexpr unsigned Attempts = 100, PauseUs = 20000;
  const std::string Mark = std::string(probe::DirVariable) + "=" + Dir;
  for (unsigned I = 0;; ++I) {
    llvm::Expected<ProbeRecord> Record = readProbeDirectory(Dir);
    if (!Record)
      return Record;
    Record->Running = llvm::count_if(
        Record->Unfinished, [&](unsigned Pid) { return hasEnvironment(pid_t(Pid), Mark); });
    Record->Incomplete -= Record->Running;
    if (!Record->Running || I == Attempts)
      return Record;
    ::usleep(PauseUs);
  }
}

} // namespace

llvm::Expected<RunRecord> carve::runWorkload(const WorkloadSpec &Spec, const ProbeSetup &Probe,
                                             const ImageMap &Images, CommandRunner &Runner,
                                             const probe::TimeStretch &Stretch, TimedGpus *Gpus) {
  llvm::Expected<TempDir> Dir = TempDir::create("carve-run");
  if (!Dir)
    return Dir.takeError();
  std::string Records = Dir->path() + "/records", List = Dir->path() + "/images";
  if (std::error_code E = llvm::sys::fs::create_directory(Records))
    return llvm::createFileError(Records, E);
  Command C = probedCommand(Spec, Probe, Records, Stretch);
  if (!Images.empty()) {
    if (llvm::Error E = writeImageList(List, Images))
      return E;
    C.Environment.push_back(std::string(probe::ImagesVariable) + "=" + List);
  }
  if (!Probe.Plan.empty()) {
    if (llvm::Error E = writeFileAtomically(Dir->path() + "/plan", Probe.Plan))
      return E;
    C.Environment.push_back(std::string(probe::PlanVariable) + "=" + Dir->path() + "/plan");
  }
  if (!Probe.Metrics.empty()) {
    if (llvm::Error E = writeFileAtomically(Dir->path() + "/metrics", Probe.Metrics))
      return E;
    C.Environment.push_back(std::string(probe::MetricsVariable) + "=" + Dir->path() + "/metrics");
  }
  TimedGpus::Turn Turn = Gpus ? Gpus->take() : TimedGpus::Turn();
  llvm::Expected<CommandResult> Result = Runner.run(C);
  if (!Result)
    return Result.takeError();
  // The signal may not reach all processes: ranks have their own process groups, and shells make
  // children in the background ignore an interrupt.
  if (Result->TimedOut || Result->Interrupted)
    endProcessesWith(std::string(probe::DirVariable) + "=" + Records, /*GraceS=*/2);
  llvm::Expected<ProbeRecord> Record = collectRecords(Records);
  if (!Record)
    return Record.takeError();
  RunRecord Run;
  Run.Probe = std::move(*Record);
  Run.TimedOut = Result->TimedOut;
  Run.Interrupted = Result->Interrupted;
  Run.WallS = Result->WallS;
  Run.Stderr = std::move(Result->Stderr);
  Run.Output = collectOutput(Spec, *Result);
  return Run;
}

probe::TimeStretch carve::revealingStretch(const RunRecord &Run) {
  uint64_t Launches = 0;
  for (const KernelLaunches &K : Run.Probe.Kernels)
    Launches += K.Launches;
  double LaunchesS = std::max(0.3, Run.WallS / 10), WaitsS = (Run.WallS + LaunchesS) * 0.4;
  return {uint64_t(LaunchesS * 1e9 / double(std::max<uint64_t>(1, Launches))),
          uint64_t(WaitsS * 1e9)};
}

static std::vector<std::string> splitLines(llvm::StringRef Text) {
  llvm::SmallVector<llvm::StringRef, 0> Parts;
  Text.split(Parts, '\n');
  std::vector<std::string> Lines;
  for (llvm::StringRef Part : Parts)
    Lines.push_back(Part.str());
  return Lines;
}

/// How often each line occurs.
static std::map<std::string, size_t> counted(const std::vector<std::string> &Lines) {
  std::map<std::string, size_t> Count;
  for (const std::string &Line : Lines)
    ++Count[Line];
  return Count;
}

/// Whether some line occurs in both outputs, but on different line numbers. Lines that are equal on
/// the same number do not count. Both outputs must have the same number of lines.
static bool linesMoved(const std::vector<std::string> &A, const std::vector<std::string> &B) {
  std::set<llvm::StringRef> Gone;
  for (size_t I = 0; I < A.size(); ++I)
    if (A[I] != B[I])
      Gone.insert(A[I]);
  for (size_t I = 0; I < A.size(); ++I)
    if (A[I] != B[I] && Gone.count(B[I]))
      return true;
  return false;
}

void OutputReference::addDefault(const ProgramOutput &Output) {
  std::vector<std::string> New = splitLines(Output.Stdout);
  std::map<std::string, size_t> NewCount = counted(New);
  if (!Seen) {
    Seen = true;
    First = Output;
    Lines = std::move(New);
    Masked.assign(Lines.size(), false);
    Common = std::move(NewCount);
    return;
  }
  for (const auto &[File, Digest] : Output.FileDigests)
    if (First.FileDigests[File] != Digest)
      FileMasked[File] = true;
  for (auto &[Line, Count] : Common)
    Count = std::min(Count, NewCount[Line]);
  if (New.size() != Lines.size()) {
    Unstable = true;
    return;
  }
  Unordered |= linesMoved(Lines, New);
  for (size_t I = 0; I < Lines.size(); ++I)
    if (New[I] != Lines[I]) {
      Masked[I] = true;
      if (areSameBut(OtherTimes::Any, New[I], Lines[I]))
        FormsThatChange[formOfTimes(Lines[I])].insert(I);
    }
}

/// A single line may change for a reason of its own, and another of its form be a result.
static constexpr size_t LeastChanging = 2;

bool OutputReference::areSameBut(OtherTimes Allowed, const std::string &A,
                                 const std::string &B) const {
  if (Allowed == OtherTimes::None || withoutTimes(A) != withoutTimes(B))
    return false;
  if (Allowed == OtherTimes::Any)
    return true;
  auto Found = FormsThatChange.find(formOfTimes(B));
  return Found != FormsThatChange.end() && Found->second.size() >= LeastChanging;
}

std::optional<std::string> OutputReference::difference(const ProgramOutput &Output,
                                                       OtherTimes Allowed) const {
  if (Output.ExitStatus != First.ExitStatus)
    return "exit status " + std::to_string(Output.ExitStatus) + " instead of " +
           std::to_string(First.ExitStatus);
  for (const auto &[File, Digest] : Output.FileDigests)
    if (!FileMasked.count(File) && First.FileDigests.at(File) != Digest)
      return "the content of " + File + " differs";
  return Unstable ? std::nullopt : lineDifference(splitLines(Output.Stdout), Allowed);
}

std::optional<std::string> OutputReference::lineDifference(const std::vector<std::string> &New,
                                                           OtherTimes Allowed) const {
  if (New.size() != Lines.size())
    return std::to_string(New.size()) + " lines of output instead of " +
           std::to_string(Lines.size());
  if (Unordered) {
    std::map<std::string, size_t> NewCount = counted(New);
    for (const auto &[Line, Count] : Common)
      if (size_t Found = NewCount[Line]; Found < Count)
        return "the output has the line '" + Line + "' " + std::to_string(Found) +
               " times instead of " + std::to_string(Count);
    return std::nullopt;
  }
  for (size_t I = 0; I < Lines.size(); ++I)
    if (!Masked[I] && New[I] != Lines[I] && !areSameBut(Allowed, New[I], Lines[I]))
      return "line " + std::to_string(I + 1) + " of the output is '" + New[I] + "' instead of '" +
             Lines[I] + "'";
  return std::nullopt;
}

size_t OutputReference::unstableLines() const {
  if (Unstable)
    return Lines.size();
  if (!Unordered)
    return std::count(Masked.begin(), Masked.end(), true);
  size_t Stable = 0;
  for (const auto &[Line, Count] : Common)
    Stable += Count;
  return Lines.size() - Stable;
}
