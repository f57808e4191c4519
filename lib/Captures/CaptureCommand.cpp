#include "Captures/CaptureCommand.h"

#include "Captures/CapturePipeline.h"
#include "Store/StoreFolder.h"
#include "Support/Error.h"
#include "Support/Flags.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;
namespace json = llvm::json;

namespace {

/// The command line.
struct CaptureOptions {
  CaptureRequest Request;
  bool List = false, Unchecked = false, Quiet = false;
  bool Json = false;
  std::vector<std::string> Files; ///< The captures to list.
};

Flags captureFlags(CaptureOptions &O) {
  CaptureRequest &R = O.Request;
  Flags F("carve capture");
  F.form("[options] -- COMMAND...",
         "write launches of the hot kernels, each with its data, to files");
  F.form("--list [--format=text|json] FILE...", "list what captures contain");
  F.arguments("FILE...", O.Files, "the captures to list");
  F.behind("COMMAND...", R.Workload.Argv, "the program to run, and its arguments");
  F.text("-o", "FOLDER", R.Directory, "the folder for the files");
  F.text("--kernel", "REGEX", R.KernelPattern, "only kernels whose demangled name matches");
  F.number("--launches", "N", R.Launches, 1, 1000,
           "launches of each kernel, spread over all that it has");
  F.seconds("--timeout", "SECONDS", R.Workload.TimeoutS, "limit for one run of the program");
  F.text("--stdin", "FILE", R.Workload.StdinPath, "standard input of each run");
  F.flag("--no-check", O.Unchecked, "do not launch the captures to check them");
  F.flag("--list", O.List, "list what captures contain; needs no GPU");
  F.choice("--format", {"text", "json"}, O.Json, "how the list is printed");
  F.flag("--quiet", O.Quiet, "print only errors, and JSON if it is asked for");
  return F;
}

llvm::Expected<CaptureOptions> readCaptureOptions(llvm::ArrayRef<std::string> Args) {
  CaptureOptions O;
  const CaptureRequest &R = O.Request;
  if (llvm::Error E = captureFlags(O).parse(Args))
    return E;
  if (O.List) {
    if (O.Files.empty() || !R.Workload.Argv.empty())
      return usageError("expected: carve capture --list FILE...");
    return O;
  }
  if (!O.Files.empty())
    return usageError("carve capture: unexpected '" + O.Files.front() +
                      "', expected the command after '--'");
  if (R.Workload.Argv.empty())
    return usageError("carve capture: no command, expected: carve capture -- COMMAND...");
  return O;
}

std::string megabytes(uint64_t Bytes) {
  return llvm::formatv("{0:F1} MB", double(Bytes) / 1e6).str();
}

json::Object jsonOf(const std::string &File, const CaptureReader &Reader) {
  const Capture &C = Reader.capture();
  return json::Object{{"file", json::fixUTF8(File)},
                      {"kernel", json::fixUTF8(C.Kernel)},
                      {"demangled", json::fixUTF8(llvm::demangle(C.Kernel))},
                      {"shape", describeShape(C.Shape)},
                      {"cooperative", C.Cooperative},
                      {"launch", int64_t(C.Launch)},
                      {"traced-launches", int64_t(C.TracedLaunches)},
                      {"mean-ns", int64_t(C.MeanNs)},
                      {"device", C.Device},
                      {"arch", C.Arch},
                      {"driver", C.DriverVersion},
                      {"memory-bytes", int64_t(C.memoryBytes())},
                      {"file-bytes", int64_t(Reader.fileBytes())},
                      {"variables", int64_t(C.Variables.size())},
                      {"units", int64_t(C.Units.size())},
                      {"workload", json::fixUTF8(C.Workload)}};
}

void printJson(json::Array List) {
  llvm::outs() << llvm::formatv("{0:2}", json::Value(std::move(List))) << "\n";
}

void listCapture(const std::string &File, const CaptureReader &Reader) {
  const Capture &C = Reader.capture();
  llvm::outs() << File << "\n  kernel     " << llvm::demangle(C.Kernel) << "\n  launch     "
               << describeShape(C.Shape) << (C.Cooperative ? " cooperative" : "") << ", number "
               << C.Launch << " of " << C.TracedLaunches << ", mean "
               << llvm::formatv("{0:F1}", double(C.MeanNs) / 1e3) << " us\n  device     "
               << C.Device << " (" << C.Arch << "), driver " << C.DriverVersion << "\n  memory     "
               << megabytes(C.memoryBytes()) << " in " << C.Memory.size() << " range(s), "
               << C.Variables.size() << " variable(s)\n  file       "
               << megabytes(Reader.fileBytes()) << "\n  container  " << C.ContainerDigest << ", "
               << C.Container.Bytes << " bytes, by " << C.LoadCall << "\n  units      "
               << C.Units.size() << (C.Units.empty() ? " (can be launched, not tuned)" : "")
               << "\n  workload   " << C.Workload << "\n";
  for (const auto &[Name, Value] : C.Attributes)
    llvm::outs() << "  attribute  " << Name << " " << Value << "\n";
}

/// Prints what the files contain. Stops at the first file that cannot be read.
llvm::Error listCaptures(const CaptureOptions &O) {
  json::Array List;
  for (const std::string &File : O.Files) {
    llvm::Expected<CaptureReader> Reader = CaptureReader::open(File);
    if (!Reader)
      return Reader.takeError();
    if (O.Json)
      List.push_back(jsonOf(File, *Reader));
    else
      listCapture(File, *Reader);
  }
  if (O.Json)
    printJson(std::move(List));
  return llvm::Error::success();
}

/// Launches the capture \p File with the tool \p Launch in a process of its own. Returns what that
/// printed, and sets \p Failed if it failed. Fails itself only if a signal interrupted us.
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
    return interrupted(Result->Interrupted);
  Failed |= !Result->succeeded();
  if (Result->TimedOut)
    return "it did not end within " + llvm::itostr(int(TimeoutS)) + " s";
  if (Result->Stdout.empty())
    return llvm::StringRef(Result->Stderr).trim().str();
  // `output equal` and the like come after the kernel and its shape.
  llvm::StringRef Said = Result->Stdout;
  size_t Colon = Said.find(": ");
  return Said.substr(Colon == llvm::StringRef::npos ? 0 : Colon + 2).trim().str();
}

/// One launch that was to be captured, and what launching its capture alone has printed.
struct Captured {
  CaptureOutcome Outcome;
  std::string LaunchedAlone; ///< Empty if that was not tried.
};

void printLaunch(const Captured &C) {
  const CaptureOutcome &L = C.Outcome;
  if (L.Path.empty()) {
    llvm::outs() << llvm::demangle(L.Wish.Kernel) << " " << describeShape(L.Wish.Shape)
                 << ": not captured: " << L.Reason << "\n";
    return;
  }
  llvm::outs() << L.Path << ": " << megabytes(L.FileBytes) << ", of " << megabytes(L.MemoryBytes)
               << " of memory"
               << (L.Tunable ? "" : "; its unit is not in the store, so it cannot be tuned");
  if (!C.LaunchedAlone.empty())
    llvm::outs() << "; launched alone: " << C.LaunchedAlone;
  llvm::outs() << "\n";
}

json::Object jsonOf(const Captured &C) {
  const CaptureOutcome &L = C.Outcome;
  json::Object O{{"kernel", json::fixUTF8(L.Wish.Kernel)},
                 {"demangled", json::fixUTF8(llvm::demangle(L.Wish.Kernel))},
                 {"shape", describeShape(L.Wish.Shape)},
                 {"file", L.Path.empty() ? json::Value(nullptr) : json::fixUTF8(L.Path)},
                 {"reason", json::fixUTF8(L.Reason)},
                 {"file-bytes", int64_t(L.FileBytes)},
                 {"memory-bytes", int64_t(L.MemoryBytes)},
                 {"tunable", L.Tunable}};
  if (!C.LaunchedAlone.empty())
    O["launched-alone"] = json::fixUTF8(C.LaunchedAlone);
  return O;
}

/// Tries the captures and prints what became of each launch. Fails if a launch was not captured, or
/// if its capture does not work.
llvm::Error reportLaunches(std::vector<CaptureOutcome> Launches, const CaptureOptions &O,
                           const std::string &Launch) {
  bool Failed = false;
  json::Array List;
  for (CaptureOutcome &L : Launches) {
    Captured C{std::move(L), ""};
    Failed |= C.Outcome.Path.empty();
    if (!C.Outcome.Path.empty() && !O.Unchecked) {
      auto Checked = checkCapture(Launch, C.Outcome.Path, O.Request.Workload.TimeoutS, Failed);
      if (!Checked)
        return Checked.takeError();
      C.LaunchedAlone = *Checked;
    }
    if (O.Json)
      List.push_back(jsonOf(C));
    else if (!O.Quiet)
      printLaunch(C);
  }
  if (O.Json)
    printJson(std::move(List));
  return Failed ? malformed("not all launches were captured") : llvm::Error::success();
}

} // namespace

llvm::Error carve::runCapture(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  llvm::Expected<CaptureOptions> O = readCaptureOptions(Args);
  if (!O)
    return O.takeError();
  if (O->List)
    return listCaptures(*O);
  llvm::Expected<std::string> Root = storeFolder(Context.Env);
  if (!Root)
    return Root.takeError();
  if (llvm::Error E = needGpu(Context.Env, "captures are taken from a program that runs on one"))
    return E;
  llvm::Expected<Toolchain> T = toolchainOf(Context);
  if (!T)
    return T.takeError();
  O->Request.Probe = {Context.Install.Probe, findCupti(T->BinDir).value_or("")};
  ProcessRunner Runner;
  llvm::Expected<CaptureResult> Result = capture(O->Request, storeAt(*Root, Context.Env), Runner);
  if (!Result)
    return Result.takeError();
  if (!Result->Note.empty())
    return unsupported("not captured", Result->Note);
  return reportLaunches(std::move(Result->Launches), *O, Context.Install.Launch);
}
