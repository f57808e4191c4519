#include "Commands.h"
#include "Driver/CapturePipeline.h"
#include "Driver/Flags.h"
#include "Support/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;

namespace {

struct CaptureOptions {
  CaptureRequest Request;
  bool List = false, Unchecked = false;
  std::vector<std::string> Files; ///< To list.
};

llvm::Expected<CaptureOptions> readCaptureOptions(llvm::ArrayRef<std::string> Args) {
  CaptureOptions O;
  CaptureRequest &R = O.Request;
  Flags F("carve capture");
  F.text("-o", R.Directory);
  F.text("--kernel", R.KernelPattern);
  F.number("--launches", R.Launches, 1, 1000);
  F.seconds("--timeout", R.Workload.TimeoutS);
  F.text("--stdin", R.Workload.StdinPath);
  F.flag("--no-check", O.Unchecked);
  F.flag("--list", O.List);
  if (llvm::Error E = F.parse(Args, O.Files, R.Workload.Argv))
    return E;
  if (O.List) {
    if (O.Files.empty() || !R.Workload.Argv.empty())
      return usageError("expected: carve capture --list FILE...");
    return O;
  }
  if (!O.Files.empty())
    return usageError("carve capture: unexpected '" + O.Files.front() +
                      "'; the command to run stands behind --");
  if (R.Workload.Argv.empty())
    return usageError("carve capture: no command, expected: carve capture -- COMMAND...");
  return O;
}

std::string megabytes(uint64_t Bytes) {
  return llvm::formatv("{0:F1} MB", double(Bytes) / 1e6).str();
}

llvm::Error listCapture(const std::string &File) {
  llvm::Expected<CaptureReader> Reader = CaptureReader::open(File);
  if (!Reader)
    return Reader.takeError();
  const Capture &C = Reader->capture();
  llvm::outs() << File << "\n  kernel     " << llvm::demangle(C.Kernel) << "\n  launch     "
               << describeShape(C.Shape) << (C.Shape.Cooperative ? " cooperative" : "")
               << ", number " << C.Launch << " of " << C.TracedLaunches << ", mean "
               << llvm::formatv("{0:F1}", double(C.MeanNs) / 1e3) << " us\n  device     "
               << C.Device << " (" << C.Arch << "), driver " << C.DriverVersion << "\n  memory     "
               << megabytes(C.memoryBytes()) << " in " << C.Memory.size() << " range(s), "
               << C.Variables.size() << " variable(s)\n  file       "
               << megabytes(Reader->fileBytes()) << "\n  container  " << C.ContainerDigest << ", "
               << C.Container.Bytes << " bytes, by " << C.LoadCall << "\n  units      "
               << C.Units.size() << (C.Units.empty() ? " (can be launched, not tuned)" : "")
               << "\n  workload   " << C.Workload << "\n";
  for (const auto &[Name, Value] : C.Attributes)
    llvm::outs() << "  attribute  " << Name << " " << Value << "\n";
  return llvm::Error::success();
}

/// Launches the capture in a process of its own, and says what came of it. Fails where we were
/// interrupted.
llvm::Expected<std::string> checkCapture(const std::string &Launch, const std::string &File,
                                         double TimeoutS, bool &Failed) {
  ProcessRunner Runner;
  Command C;
  C.Argv = {Launch, File};
  C.CaptureStdout = C.CaptureStderr = true;
  C.TimeoutS = TimeoutS;
  llvm::Expected<CommandResult> Result = Runner.run(C);
  if (!Result) {
    Failed = true;
    return llvm::toString(Result.takeError());
  }
  if (Result->Interrupted)
    return unsupported("interrupted", llvm::Twine(Result->Interrupted));
  Failed |= !Result->succeeded();
  if (Result->TimedOut)
    return "it did not end within " + llvm::itostr(int(TimeoutS)) + " s";
  if (Result->Stdout.empty())
    return llvm::StringRef(Result->Stderr).trim().str();
  // Behind kernel and shape: `output equal`.
  llvm::StringRef Said = Result->Stdout;
  size_t Colon = Said.find(": ");
  return Said.substr(Colon == llvm::StringRef::npos ? 0 : Colon + 2).trim().str();
}

/// Prints what became of one launch.
llvm::Error reportLaunch(const CaptureOutcome &L, const CaptureOptions &O,
                         const std::string &Launch, bool &Failed) {
  if (L.Path.empty()) {
    Failed = true;
    llvm::outs() << llvm::demangle(L.Wish.Kernel) << " " << describeShape(L.Wish.Shape)
                 << ": not captured: " << L.Reason << "\n";
    return llvm::Error::success();
  }
  llvm::outs() << L.Path << ": " << megabytes(L.FileBytes) << ", of " << megabytes(L.MemoryBytes)
               << " of memory"
               << (L.Tunable ? "" : "; of no unit in the store, so not to be tuned");
  if (!O.Unchecked) {
    auto Checked = checkCapture(Launch, L.Path, O.Request.Workload.TimeoutS, Failed);
    if (!Checked)
      return Checked.takeError();
    llvm::outs() << "; launched alone: " << *Checked;
  }
  llvm::outs() << "\n";
  return llvm::Error::success();
}

} // namespace

llvm::Error carve::runCapture(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  llvm::Expected<CaptureOptions> O = readCaptureOptions(Args);
  if (!O)
    return O.takeError();
  if (O->List) {
    for (const std::string &File : O->Files)
      if (llvm::Error E = listCapture(File))
        return E;
    return llvm::Error::success();
  }
  std::optional<std::string> Root = storeRoot(Context.Env);
  if (!Root)
    return usageError("no store: CARVE_STORE, XDG_CACHE_HOME and HOME are all unset");
  if (!gpuPresent(Context.Env))
    return usageError("no GPU is present (no /dev/nvidia*, or CUDA_VISIBLE_DEVICES hides it); "
                      "captures are taken from a program that runs on one");
  llvm::Expected<Toolchain> T = findToolchain(Context.Env, Context.OwnPath);
  if (!T)
    return T.takeError();
  O->Request.Probe = {Context.Install.Probe, findCupti(T->BinDir).value_or("")};
  ProcessRunner Runner;
  llvm::Expected<CaptureResult> Result = capture(O->Request, UnitStore(*Root), Runner);
  if (!Result)
    return Result.takeError();
  if (!Result->Note.empty())
    return unsupported("not captured", Result->Note);
  bool Failed = false;
  for (const CaptureOutcome &L : Result->Launches)
    if (llvm::Error E = reportLaunch(L, *O, Context.Install.Launch, Failed))
      return E;
  return Failed ? malformed("not everything was captured") : llvm::Error::success();
}
