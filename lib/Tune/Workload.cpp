#include "Tune/Workload.h"

#include "Nvcc/Toolchain.h"
#include "Probe/Protocol.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace carve;
namespace path = llvm::sys::path;

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

/// One tuning at a time runs its workload. Released by the system however we end; where no lock
/// file can be made the workload runs unlocked.
class TimingLock {
public:
  TimingLock() {
    constexpr char Path[] = "/tmp/carve-nvcc-timing.lock";
    // Linux refuses O_CREAT on another user's file in a sticky directory: open it plainly first.
    Fd = ::open(Path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (Fd < 0)
      Fd = ::open(Path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (Fd < 0)
      return;
    (void)::fchmod(Fd, 0666); // Other users share the GPU too.
    while (::flock(Fd, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  TimingLock(const TimingLock &) = delete;
  ~TimingLock() {
    if (Fd >= 0)
      ::close(Fd);
  }

private:
  int Fd;
};

std::string absolutePath(const std::string &Dir, const std::string &Path) {
  if (Dir.empty() || path::is_absolute(Path))
    return Path;
  return Dir + "/" + Path;
}

ProgramOutput collectOutput(const WorkloadSpec &Spec, CommandResult &Result) {
  ProgramOutput Output;
  Output.ExitStatus = Result.ExitStatus;
  Output.Stdout = std::move(Result.Stdout);
  for (const std::string &File : Spec.OutputFiles) {
    llvm::Expected<std::string> Bytes = readFile(absolutePath(Spec.Dir, File));
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

} // namespace

llvm::Expected<RunRecord> carve::runWorkload(const WorkloadSpec &Spec, const ProbeSetup &Probe,
                                             const ImageMap &Images, CommandRunner &Runner,
                                             uint64_t LaunchDelayNs) {
  llvm::Expected<TempDir> Dir = TempDir::create("carve-run");
  if (!Dir)
    return Dir.takeError();
  std::string Records = Dir->path() + "/records", List = Dir->path() + "/images";
  if (std::error_code E = llvm::sys::fs::create_directory(Records))
    return llvm::createFileError(Records, E);
  Command C;
  C.Argv = Spec.Argv;
  C.Dir = Spec.Dir;
  C.CaptureStdout = C.CaptureStderr = true;
  C.TimeoutS = Spec.TimeoutS;
  C.StdinPath = Spec.StdinPath;
  C.Environment = {std::string(probe::InjectionVariable) + "=" + Probe.Library,
                   std::string(probe::DirVariable) + "=" + Records,
                   // A compile inside the workload must not start a tuning of its own.
                   "CARVE_RUN=none",
                   // It finds nvcc as a compile at the top does.
                   CallersVariable};
  if (!Probe.Cupti.empty())
    C.Environment.push_back(std::string(probe::CuptiVariable) + "=" + Probe.Cupti);
  if (!Images.empty()) {
    if (llvm::Error E = writeImageList(List, Images))
      return E;
    C.Environment.push_back(std::string(probe::ImagesVariable) + "=" + List);
  }
  if (LaunchDelayNs > 0)
    C.Environment.push_back(std::string(probe::DelayVariable) + "=" +
                            std::to_string(LaunchDelayNs));
  TimingLock Lock;
  llvm::Expected<CommandResult> Result = Runner.run(C);
  if (!Result)
    return Result.takeError();
  llvm::Expected<ProbeRecord> Record = readProbeDirectory(Records);
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

uint64_t carve::revealingDelayNs(const RunRecord &Run) {
  uint64_t Launches = 0;
  for (const KernelLaunches &K : Run.Probe.Kernels)
    Launches += K.Launches;
  double ExtraS = std::max(0.3, Run.WallS / 2);
  return ExtraS * 1e9 / std::max<uint64_t>(1, Launches);
}

static std::vector<std::string> splitLines(llvm::StringRef Text) {
  llvm::SmallVector<llvm::StringRef, 0> Parts;
  Text.split(Parts, '\n');
  std::vector<std::string> Lines;
  for (llvm::StringRef Part : Parts)
    Lines.push_back(Part.str());
  return Lines;
}

void OutputReference::addDefault(const ProgramOutput &Output) {
  std::vector<std::string> New = splitLines(Output.Stdout);
  if (!Seen) {
    Seen = true;
    First = Output;
    Lines = std::move(New);
    Masked.assign(Lines.size(), false);
    return;
  }
  for (const auto &[File, Digest] : Output.FileDigests)
    if (First.FileDigests[File] != Digest)
      FileMasked[File] = true;
  if (New.size() != Lines.size())
    Unstable = true;
  for (size_t I = 0; !Unstable && I < Lines.size(); ++I)
    if (New[I] != Lines[I])
      Masked[I] = true;
}

std::optional<std::string> OutputReference::difference(const ProgramOutput &Output) const {
  if (Output.ExitStatus != First.ExitStatus)
    return "exit status " + std::to_string(Output.ExitStatus) + " instead of " +
           std::to_string(First.ExitStatus);
  for (const auto &[File, Digest] : Output.FileDigests)
    if (!FileMasked.count(File) && First.FileDigests.at(File) != Digest)
      return "the content of " + File + " differs";
  if (Unstable)
    return std::nullopt;
  std::vector<std::string> New = splitLines(Output.Stdout);
  if (New.size() != Lines.size())
    return std::to_string(New.size()) + " lines of output instead of " +
           std::to_string(Lines.size());
  for (size_t I = 0; I < Lines.size(); ++I)
    if (!Masked[I] && New[I] != Lines[I])
      return "line " + std::to_string(I + 1) + " of the output is '" + New[I] + "' instead of '" +
             Lines[I] + "'";
  return std::nullopt;
}

size_t OutputReference::unstableLines() const {
  return Unstable ? Lines.size() : std::count(Masked.begin(), Masked.end(), true);
}
