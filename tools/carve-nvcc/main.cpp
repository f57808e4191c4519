// carve-nvcc: split argv, run the pipeline or become nvcc, map errors to exit codes.

#include "Driver/CompilePipeline.h"
#include "Driver/Fallback.h"
#include "Driver/Terminal.h"
#include "Driver/UnitRecorder.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Log.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <unistd.h>

using namespace carve;

namespace {

std::optional<std::string> environment(llvm::StringRef Name) {
  return llvm::sys::Process::GetEnv(Name);
}

int fail(llvm::Error E) {
  std::string Message = llvm::toString(std::move(E));
  llvm::StringRef Text = Message;
  Text.consume_front("carve-nvcc: ");
  llvm::errs() << "carve-nvcc: error: " << Text << "\n";
  return 1;
}

/// Ends as the signal would have ended us, now that our files are removed.
int raiseAgain(int Signal) {
  ::signal(Signal, SIG_DFL);
  ::raise(Signal);
  return 128 + Signal;
}

/// A store for this command alone, where the shared one cannot be written.
llvm::Expected<TempDir> replaceStore(std::optional<UnitStore> &Store, const CommandLine &Line,
                                     llvm::StringRef WorkDir) {
  llvm::Expected<TempDir> Dir = TempDir::create("carve-store");
  if (!Dir)
    return Dir;
  UnitStore Own(Dir->path());
  if (Store)
    copyDecisions(Line, WorkDir, *Store, Own);
  Store = std::move(Own);
  return Dir;
}

int runDriver(int Argc, char **Argv) {
  std::string OwnPath = llvm::sys::fs::getMainExecutable(Argv[0], nullptr);
  std::vector<std::string> ForNvcc;
  llvm::Expected<DriverOptions> Options =
      takeDriverOptions(std::vector<std::string>(Argv + 1, Argv + Argc), environment, ForNvcc);
  if (!Options)
    return fail(Options.takeError());
  if (Options->Help || Options->Version) {
    llvm::outs() << (Options->Help ? driverHelp() : "carve-nvcc " CARVE_VERSION "\n");
    return 0;
  }
  if (!Options->LogPath.empty())
    if (llvm::Error E = openLog(Options->LogPath))
      return fail(std::move(E));
  llvm::Expected<Toolchain> T = findToolchain(environment, OwnPath);
  if (!T)
    return fail(T.takeError());
  ::setenv(CallersVariable, callersBehind(environment, OwnPath, *T).c_str(), /*overwrite=*/1);

  llvm::SmallString<256> WorkDir;
  llvm::sys::fs::current_path(WorkDir);
  std::optional<std::string> Root = storeRoot(environment);
  std::optional<UnitStore> Store;
  if (Root)
    Store.emplace(*Root);
  NvccEnvironment Env{environment("NVCC_PREPEND_FLAGS").value_or(""),
                      environment("NVCC_APPEND_FLAGS").value_or(""), WorkDir.str().str()};
  std::string Reason, Detail;
  auto Left = [&](const Unsupported &U) {
    Reason = U.reason();
    Detail = U.detail();
  };
  llvm::Expected<CommandLine> Line = parseCommandLine(ForNvcc, Env);
  if (!Line) {
    llvm::handleAllErrors(Line.takeError(), Left);
    return fail(fallBack(*T, Store, ForNvcc, Reason, Detail));
  }
  std::optional<TempDir> Temporary;
  if (!Store || !Store->writable()) {
    llvm::Expected<TempDir> Dir = replaceStore(Store, *Line, WorkDir);
    if (!Dir)
      return fail(fallBack(*T, Store, ForNvcc, "no-store", llvm::toString(Dir.takeError())));
    Temporary = std::move(*Dir);
  }
  TerminalProgress Progress(::isatty(2));
  ProcessRunner Runner;
  CompileRequest Request = makeCompileRequest(std::move(*Line), std::move(*Options), OwnPath,
                                              WorkDir.str().str(), environment);
  Request.Progress = [&Progress](unsigned Done, unsigned Expected, double Seconds) {
    Progress.show(Done, Expected, Seconds);
  };
  llvm::Expected<CompileResult> Result = compile(Request, *Store, *T, Runner);
  Progress.clear();
  if (!Result) {
    llvm::Error Rest = llvm::handleErrors(Result.takeError(), Left);
    if (Temporary)
      Store.reset(); // Counting there would make its directory again.
    Temporary.reset();
    if (Rest)
      return fail(std::move(Rest));
    return fail(fallBack(*T, Store, ForNvcc, Reason, Detail));
  }
  if (Result->Tuned && ::isatty(2))
    llvm::errs() << terminalSummary(*Result->Tuned);
  Temporary.reset();
  return Result->Signal ? raiseAgain(Result->Signal) : Result->ExitStatus;
}

} // namespace

int main(int Argc, char **Argv) { return runDriver(Argc, Argv); }
