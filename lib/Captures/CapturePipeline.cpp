#include "Captures/CapturePipeline.h"

#include "Captures/File/UnitBundle.h"
#include "Protocol/CaptureProtocol.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Regex.h"

#include <csignal>
#include <set>
#include <sys/personality.h>

using namespace carve;
namespace fs = llvm::sys::fs;

std::vector<CaptureWish>
carve::chooseLaunches(const ProbeRecord &Trace, const CaptureRequest &Request,
                      const llvm::function_ref<bool(llvm::StringRef)> Wanted) {
  std::vector<CaptureWish> Wishes;
  for (const TracedKernel &K : tracedKernels(Trace)) {
    if (K.Share < Request.LeastShare || !Wanted(K.Kernel))
      continue;
    auto Most = llvm::max_element(K.Shapes, [](const KernelLaunches &A, const KernelLaunches &B) {
      return A.TotalNs < B.TotalNs;
    });
    if (Most == K.Shapes.end())
      continue;
    uint64_t InProcess = std::max<uint64_t>(1, Most->Launches / std::max(1u, Trace.Processes));
    std::set<uint64_t> Chosen;
    // Divide the launches into equal parts and take the middle of each. The first launches of a
    // program often see data that is unlike the later data.
    for (uint64_t I = 0; I < Request.Launches; ++I)
      Chosen.insert((2 * I + 1) * InProcess / (2 * uint64_t(Request.Launches)));
    for (uint64_t Launch : Chosen)
      Wishes.push_back({K.Kernel, Most->Shape, std::min(Launch, InProcess - 1)});
  }
  return Wishes;
}

/// Returns `128`, `128x2` or `128x2x3`.
static std::string dimensions(const std::array<unsigned, 3> &D) {
  std::string Text = std::to_string(D[0]);
  if (D[1] > 1 || D[2] > 1)
    Text += "x" + std::to_string(D[1]);
  if (D[2] > 1)
    Text += "x" + std::to_string(D[2]);
  return Text;
}

std::string carve::captureName(const CaptureWish &Wish) {
  llvm::ItaniumPartialDemangler Demangler;
  std::string Name = Wish.Kernel;
  if (!Demangler.partialDemangle(Wish.Kernel.c_str()))
    if (char *Base = Demangler.getFunctionBaseName(nullptr, nullptr)) {
      Name = Base;
      std::free(Base);
    }
  std::string Clean;
  for (char C : Name)
    if (llvm::isAlnum(C) || C == '_')
      Clean += C;
  if (Clean.empty()) // A file whose name begins with '-' would look like an option.
    Clean = "kernel";
  return Clean.substr(0, 80) + "-" + dimensions(Wish.Shape.Grid) + "-" +
         dimensions(Wish.Shape.Block);
}

namespace {

/// While an object of this class exists, programs start without randomised addresses. carve-launch,
/// started in the same way, then has the best chance of getting the same addresses. If the system
/// refuses, addresses stay random.
class FixedAddresses {
public:
  FixedAddresses() : Before(::personality(0xffffffff)) {
    if (Before >= 0)
      (void)::personality(unsigned(Before) | ADDR_NO_RANDOMIZE);
  }
  ~FixedAddresses() {
    if (Before >= 0)
      (void)::personality(unsigned(Before));
  }

private:
  int Before;
};

/// From begin() on, a signal that would end us is blocked until this object is destroyed. So no
/// half-written file is left, and neither is the program's memory, which takes gigabytes.
class HeldSignals {
public:
  HeldSignals() {
    ::sigemptyset(&Held);
    for (int Signal : {SIGINT, SIGTERM, SIGHUP})
      ::sigaddset(&Held, Signal);
    ::sigprocmask(SIG_BLOCK, nullptr, &Before);
  }
  HeldSignals(const HeldSignals &) = delete;
  ~HeldSignals() { ::sigprocmask(SIG_SETMASK, &Before, nullptr); }

  void begin() { ::sigprocmask(SIG_BLOCK, &Held, nullptr); }
  /// Fails with Interrupted if a signal is pending.
  llvm::Error check() const {
    sigset_t Pending;
    ::sigpending(&Pending);
    for (int Signal : {SIGINT, SIGTERM, SIGHUP})
      if (::sigismember(&Pending, Signal) == 1)
        return interrupted(Signal);
    return llvm::Error::success();
  }

private:
  sigset_t Held, Before;
};

class CapturePipeline {
public:
  CapturePipeline(const CaptureRequest &Request, const UnitStore &Store, CommandRunner &Runner)
      : Request(Request), Store(Store), Runner(Runner) {}

  llvm::Expected<CaptureResult> run();

private:
  llvm::Expected<RunRecord> runOnce(const WorkloadSpec &Spec, CaptureResult &Result);
  llvm::Error captureInto(const std::string &Raw, CaptureResult &Result);
  llvm::Expected<RunRecord> runCapturing(const std::string &Raw, const std::string &Files,
                                         llvm::ArrayRef<CaptureOutcome *> Wanted,
                                         CaptureResult &Result);
  std::string whyNotSeen(const std::string &Kernel) const;
  llvm::Error pack(const std::string &Raw, size_t Wish, CaptureOutcome &Outcome);
  std::string pathOf(const CaptureWish &Wish);

  const CaptureRequest &Request;
  const UnitStore &Store;
  CommandRunner &Runner;
  /// Outlives the temporary directory of run(), so that a blocked signal ends us only after the
  /// directory is removed.
  HeldSignals Signals;
  ProbeRecord Trace;
  std::set<std::string> Paths;
};

/// Runs the program once. If the run did not go well, Result.Note says why, or the run has faults.
llvm::Expected<RunRecord> CapturePipeline::runOnce(const WorkloadSpec &Spec,
                                                   CaptureResult &Result) {
  llvm::Expected<RunRecord> Run = runWorkload(Spec, Request.Probe, {}, Runner);
  if (!Run)
    return Run;
  if (Run->Interrupted)
    return interrupted(Run->Interrupted);
  if (!Run->Probe.InRun.Faults.empty())
    return Run;
  if (Run->TimedOut)
    Result.Note = "the program did not end within " + llvm::itostr(int(Spec.TimeoutS)) + " s";
  else if (!Run->succeeded())
    Result.Note = "the program ended with exit status " + std::to_string(Run->Output.ExitStatus);
  else if (Run->Probe.Kernels.empty())
    Result.Note = Run->Probe.whyIncomplete().value_or("the program launched no kernel");
  return Run;
}

/// Returns a new path for each capture, because overloads and launches of a kernel share one name.
std::string CapturePipeline::pathOf(const CaptureWish &Wish) {
  std::string Base = Request.Directory + "/" + captureName(Wish), Path = Base + CaptureSuffix;
  for (unsigned I = 2; !Paths.insert(Path).second; ++I)
    Path = Base + "-" + std::to_string(I) + CaptureSuffix;
  return Path;
}

/// Why no launch of \p Kernel was the one to capture.
std::string CapturePipeline::whyNotSeen(const std::string &Kernel) const {
  if (Trace.GraphLaunches.count(Kernel))
    if (auto Why = Trace.whyInGraphs(Kernel))
      return "the kernel is " + *Why;
  return "the launch did not occur again in the second run";
}

llvm::Error CapturePipeline::pack(const std::string &Raw, size_t Index, CaptureOutcome &Outcome) {
  RawCaptures Found = findRawCaptures(Raw, Index);
  if (Found.Folders.empty()) {
    Outcome.Reason = Found.Refused.empty() ? whyNotSeen(Outcome.Wish.Kernel) : Found.Refused;
    return llvm::Error::success();
  }
  Capture C;
  C.Workload = llvm::join(Request.Workload.Argv, " ");
  if (!Trace.Devices.empty()) {
    C.Device = Trace.Devices.front().Name;
    C.Arch = Trace.Devices.front().arch();
    C.DriverVersion = Trace.Devices.front().driverVersion();
  }
  uint64_t TotalNs = 0;
  for (const KernelLaunches &K : Trace.Kernels)
    if (K.Kernel == Outcome.Wish.Kernel && K.Shape == Outcome.Wish.Shape) {
      C.TracedLaunches += K.Launches;
      TotalNs += K.TotalNs;
    }
  C.MeanNs = C.TracedLaunches ? TotalNs / C.TracedLaunches : 0;
  std::string Path = pathOf(Outcome.Wish);
  llvm::Expected<CaptureWriter> W = CaptureWriter::create(Path);
  if (!W)
    return W.takeError();
  if (llvm::Error E = packRawCapture(Found.Folders.front(), *W, C, [&] { return Signals.check(); }))
    return E;
  bundleUnits(Store, *W, C);
  if (llvm::Error E = W->finish(C))
    return E;
  Outcome.Path = Path;
  Outcome.MemoryBytes = C.memoryBytes();
  Outcome.Tunable = !C.Units.empty();
  (void)fs::file_size(Path, Outcome.FileBytes);
  return llvm::Error::success();
}

/// Runs the program and lets the probe capture the launches \p Wanted into the folder \p Files.
llvm::Expected<RunRecord> CapturePipeline::runCapturing(const std::string &Raw,
                                                        const std::string &Files,
                                                        llvm::ArrayRef<CaptureOutcome *> Wanted,
                                                        CaptureResult &Result) {
  std::vector<CaptureWish> Wishes;
  for (const CaptureOutcome *O : Wanted)
    Wishes.push_back(O->Wish);
  std::string List = Raw + "/wishes";
  if (std::error_code E = fs::create_directory(Files))
    return llvm::createFileError(Files, E);
  if (llvm::Error E = writeFileAtomically(List, printCaptureWishes(Wishes, Files)))
    return E;
  WorkloadSpec Spec = Request.Workload;
  Spec.Environment.push_back((llvm::Twine(probe::CaptureVariable) + "=" + List).str());
  FixedAddresses Fixed;
  return runOnce(Spec, Result);
}

/// Takes the kernels with a fault in \p Run out of \p Wanted. Returns whether there was one.
static bool leaveOutFaulted(const RunRecord &Run, std::vector<CaptureOutcome *> &Wanted) {
  size_t Before = Wanted.size();
  for (const VariantFault &F : Run.Probe.InRun.Faults)
    llvm::erase_if(Wanted, [&](CaptureOutcome *O) {
      if (O->Wish.Kernel != F.Kernel)
        return false;
      O->Reason = "the kernel " + F.Why;
      return true;
    });
  return Wanted.size() < Before;
}

/// If a graph hangs because its nodes are launched one by one, the probe ends the program. Then it
/// runs again without the graph's kernels.
llvm::Error CapturePipeline::captureInto(const std::string &Raw, CaptureResult &Result) {
  std::vector<CaptureOutcome *> Wanted;
  for (CaptureOutcome &O : Result.Launches)
    Wanted.push_back(&O);
  std::string Files;
  for (unsigned Number = 0; !Wanted.empty(); ++Number) {
    Files = Raw + "/raw" + std::to_string(Number);
    llvm::Expected<RunRecord> Run = runCapturing(Raw, Files, Wanted, Result);
    if (!Run)
      return Run.takeError();
    if (!leaveOutFaulted(*Run, Wanted))
      break;
    (void)fs::remove_directories(Files);
  }
  if (!Result.Note.empty())
    return llvm::Error::success();
  Signals.begin();
  for (size_t I = 0; I < Wanted.size(); ++I)
    if (llvm::Error E = pack(Files, I, *Wanted[I]))
      return E;
  return llvm::Error::success();
}

llvm::Expected<CaptureResult> CapturePipeline::run() {
  CaptureResult Result;
  // llvm::Regex refuses an empty expression.
  llvm::Regex Pattern(Request.KernelPattern.empty() ? "." : Request.KernelPattern);
  std::string Wrong;
  if (!Pattern.isValid(Wrong))
    return usageError("--kernel=" + Request.KernelPattern + ": " + Wrong);
  llvm::Expected<RunRecord> Run = runOnce(Request.Workload, Result);
  if (!Run)
    return Run.takeError();
  if (!Result.Note.empty())
    return Result;
  Trace = std::move(Run->Probe);
  for (CaptureWish &W : chooseLaunches(Trace, Request, [&](llvm::StringRef Kernel) {
         return Pattern.match(llvm::demangle(Kernel));
       }))
    Result.Launches.push_back({std::move(W), "", "", 0, 0, false});
  if (Result.Launches.empty()) {
    Result.Note = "no kernel with 1 % of the GPU time or more matches";
    return Result;
  }
  if (std::error_code E = fs::create_directories(Request.Directory))
    return llvm::createFileError(Request.Directory, E);
  // The raw files are placed beside the captures, because another file system may be too small for
  // all memory of a GPU.
  llvm::SmallString<256> Absolute(Request.Directory);
  if (std::error_code E = fs::make_absolute(Absolute))
    return llvm::createFileError(Request.Directory, E);
  llvm::Expected<TempDir> Raw = TempDir::createLocked((Absolute + "/.carve-capture").str());
  if (!Raw)
    return Raw.takeError();
  if (llvm::Error E = captureInto(Raw->path(), Result))
    return E;
  return Result;
}

} // namespace

llvm::Expected<CaptureResult> carve::capture(const CaptureRequest &Request, const UnitStore &Store,
                                             CommandRunner &Runner) {
  return CapturePipeline(Request, Store, Runner).run();
}
