// carve-nvcc: split argv, run the pipeline or become nvcc, map errors to exit codes.

#include "Compile/CommandStore.h"
#include "Compile/CompilePipeline.h"
#include "Compile/CompileRequest.h"
#include "Compile/CompilerCache.h"
#include "Compile/Fallback.h"
#include "Compile/LinkPipeline.h"
#include "Report/Terminal.h"
#include "Store/StoreFolder.h"
#include "Support/Error.h"
#include "Support/Log.h"
#include "Support/SignalCleanup.h"
#include "Version/Version.h"

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

std::vector<std::string> allVariables() {
  std::vector<std::string> All;
  for (char **Variable = environ; *Variable; ++Variable)
    All.push_back(*Variable);
  return All;
}

int fail(llvm::Error E) {
  std::string Message = llvm::toString(std::move(E));
  llvm::StringRef Text = Message;
  Text.consume_front("carve-nvcc: ");
  llvm::errs() << "carve-nvcc: error: " << Text << "\n";
  return 1;
}

/// The exit status; where a signal ended the work, ends as the signal would have ended us, now that
/// our files are removed.
int endWith(int Signal, int ExitStatus) {
  if (!Signal)
    return ExitStatus;
  ::signal(Signal, SIG_DFL);
  ::raise(Signal);
  return 128 + Signal;
}

/// Compiles what \p Line says. Fails with Unsupported where nvcc has to, which was not started.
llvm::Expected<int> runCompile(CommandLine Line, DriverOptions Options, CommandStore &Store,
                               llvm::StringRef OwnPath, llvm::StringRef WorkDir,
                               const Toolchain &T) {
  const bool Tells = ::isatty(2) && !Options.Quiet;
  TerminalProgress Progress(Tells);
  ProcessRunner Runner;
  CompileRequest Request = makeCompileRequest(std::move(Line), std::move(Options), OwnPath,
                                              WorkDir.str(), Store, T, environment, allVariables());
  Request.Progress = [&Progress](unsigned Done, unsigned Expected, double Seconds) {
    Progress.show(Done, Expected, Seconds);
  };
  Request.Step = [&Progress](llvm::StringRef What, size_t Done, size_t Of) {
    Progress.step(What, Done, Of);
  };
  Request.Waiting = [&Progress](llvm::StringRef Text) { Progress.say(Text); };
  llvm::Expected<CompileResult> Result = compile(Request, Store.store(), T, Runner);
  Progress.clear();
  Store.removeTemporary();
  if (!Result)
    return Result.takeError();
  if (!Result->Warning.empty())
    llvm::errs() << "carve-nvcc: warning: " << Result->Warning << "\n";
  if (Result->Tuned && Tells)
    llvm::errs() << terminalSummary(*Result->Tuned);
  return endWith(Result->Signal, Result->ExitStatus);
}

/// The store that all commands share, if there can be one.
std::optional<UnitStore> sharedStore() {
  if (std::optional<std::string> Root = storeRoot(environment))
    return UnitStore(*Root);
  return std::nullopt;
}

/// Answers \p Request, which \p NoCompile says is no compile.
int runOther(const LinkRequest &Request, llvm::Error NoCompile, const DriverOptions &Options,
             const std::optional<UnitStore> &Shared, const Toolchain &T) {
  CompilerCache Cache = compilerCacheInFront(environment);
  if (isCacheStep(Request.Argv, Cache)) {
    ProcessRunner Runner;
    llvm::Expected<CommandResult> R =
        runCacheStep({Request.Argv, Request.Flags, Cache, environment}, Options, Shared, T, Runner);
    if (R) {
      llvm::consumeError(std::move(NoCompile));
      return endWith(R->Interrupted ? R->Interrupted : R->Signal, R->ExitStatus);
    }
    llvm::Error E = R.takeError();
    if (!E.isA<Unsupported>()) {
      llvm::consumeError(std::move(NoCompile));
      return fail(std::move(E));
    }
    llvm::consumeError(std::move(NoCompile));
    NoCompile = std::move(E);
  }
  auto Linked = linkOrFallBack(Request, std::move(NoCompile), Shared, T);
  return Linked ? endWith(Linked->Signal, Linked->ExitStatus) : fail(Linked.takeError());
}

int printCacheKey(const DriverOptions &Options, llvm::StringRef OwnPath, const Toolchain &T) {
  llvm::SmallString<256> WorkDir;
  (void)llvm::sys::fs::current_path(WorkDir);
  llvm::Expected<UserProfile> Profile =
      UserProfile::read(Options.ProfilePath, Options.ProfileByOption, WorkDir);
  if (!Profile)
    return fail(Profile.takeError());
  llvm::outs() << cacheKey(OwnPath, T, *Profile, sharedStore());
  return 0;
}

/// Runs nvcc's part of the command, \p ForNvcc.
int runForNvcc(const std::vector<std::string> &ForNvcc, DriverOptions Options,
               llvm::StringRef OwnPath, const Toolchain &T) {
  llvm::SmallString<256> WorkDir;
  (void)llvm::sys::fs::current_path(WorkDir);
  NvccEnvironment Env{environment("NVCC_PREPEND_FLAGS").value_or(""),
                      environment("NVCC_APPEND_FLAGS").value_or(""), WorkDir.str().str()};
  std::optional<UnitStore> Shared = sharedStore();
  llvm::Expected<CommandLine> Line = parseCommandLine(ForNvcc, Env);
  if (!Line)
    return runOther({ForNvcc, Env, environment}, Line.takeError(), Options, Shared, T);
  llvm::Expected<CommandStore> Store = CommandStore::open(Shared, *Line, WorkDir);
  llvm::Expected<int> Status =
      Store ? runCompile(std::move(*Line), std::move(Options), *Store, OwnPath, WorkDir, T)
            : Store.takeError();
  if (Status)
    return *Status;
  std::string Reason, Detail;
  llvm::Error Rest = llvm::handleErrors(Status.takeError(), [&](const Unsupported &U) {
    Reason = U.reason();
    Detail = U.detail();
  });
  return fail(Rest ? std::move(Rest) : fallBack(T, Shared, ForNvcc, Reason, Detail));
}

int runDriver(int Argc, char **Argv) {
  std::string OwnPath = llvm::sys::fs::getMainExecutable(Argv[0], nullptr);
  std::vector<std::string> ForNvcc;
  llvm::Expected<DriverOptions> Options =
      takeDriverOptions(std::vector<std::string>(Argv + 1, Argv + Argc), environment, ForNvcc);
  if (!Options)
    return fail(Options.takeError());
  if (Options->Help || Options->Version) {
    llvm::outs() << (Options->Help ? driverHelp().str() : versionText("carve-nvcc"));
    return 0;
  }
  if (!Options->LogPath.empty())
    if (llvm::Error E = openLog(Options->LogPath))
      return fail(std::move(E));
  llvm::Expected<Toolchain> T = findToolchain(environment, OwnPath);
  if (!T)
    return fail(T.takeError());
  if (Options->CacheKey)
    return printCacheKey(*Options, OwnPath, *T);
  ::setenv(CallersVariable, callersBehind(environment, OwnPath, *T).c_str(), /*overwrite=*/1);

  return runForNvcc(ForNvcc, std::move(*Options), OwnPath, *T);
}

} // namespace

int main(int Argc, char **Argv) {
  removeRegisteredOnSignals();
  return runDriver(Argc, Argv);
}
