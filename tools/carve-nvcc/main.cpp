// carve-nvcc: splits argv, runs the pipeline or becomes nvcc, and maps errors to exit statuses.

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

/// Returns \p ExitStatus. If \p Signal ended the work, ends this process by the same signal
/// instead, now that our files are removed.
int endWith(int Signal, int ExitStatus) {
  if (!Signal)
    return ExitStatus;
  ::signal(Signal, SIG_DFL);
  ::raise(Signal);
  return 128 + Signal;
}

/// Compiles what \p Line says. Fails with Unsupported if nvcc has to do it; nvcc has not been
/// started then.
llvm::Expected<int> runCompile(CommandLine Line, DriverOptions Options, CommandStore &Store,
                               llvm::StringRef OwnPath, llvm::StringRef WorkDir,
                               const Toolchain &T) {
  const bool Tells = ::isatty(2) && !Options.Quiet;
  TerminalProgress Progress({.Line = Tells});
  ProcessRunner Runner;
  CompileRequest Request = makeCompileRequest(std::move(Line), std::move(Options), OwnPath,
                                              WorkDir.str(), Store, T, environment, allVariables());
  Request.Progress = &Progress;
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

/// Returns the store that all commands share, or nothing if there can be none.
std::optional<UnitStore> sharedStore() {
  if (std::optional<std::string> Root = storeRoot(environment))
    return storeAt(*Root, environment);
  return std::nullopt;
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

/// A command for nvcc, with what is needed to run it.
struct NvccCommand {
  std::vector<std::string> Argv;
  NvccEnvironment Env;
  const Toolchain &T;
  std::optional<UnitStore> Shared = sharedStore();
};

/// Returns \p Status, or becomes nvcc if \p Status is Unsupported.
int endOrFallBack(llvm::Expected<int> Status, const NvccCommand &C) {
  if (Status)
    return *Status;
  llvm::Error E = Status.takeError();
  if (!E.isA<Unsupported>())
    return fail(std::move(E));
  return fail(fallBack(C.T, C.Shared, C.Argv, passthroughBecause(std::move(E))));
}

/// Opens the command's store and compiles as \p Line says.
llvm::Expected<int> runCompileCommand(CommandLine Line, DriverOptions Options,
                                      llvm::StringRef OwnPath, const NvccCommand &C) {
  llvm::Expected<CommandStore> Store = CommandStore::open(C.Shared, Line, C.Env.WorkDir);
  if (!Store)
    return Store.takeError();
  return runCompile(std::move(Line), std::move(Options), *Store, OwnPath, C.Env.WorkDir, C.T);
}

/// Links device code, and records what was linked. Fails with Unsupported if nvcc has to do it.
llvm::Expected<int> runLink(const DeviceCodeLink &Link, const NvccCommand &C) {
  const Passthrough &Without = Link.WithoutDeviceCode;
  if (!C.Shared)
    return unsupported(Without.Reason, Without.Detail);
  ProcessRunner Runner;
  UnitStore Store = *C.Shared;
  auto Linked = linkDeviceCode({Link.Line, C.Env.WorkDir, environment}, Store, C.T, Runner);
  if (!Linked)
    return Linked.takeError();
  if (!*Linked)
    return unsupported(Without.Reason, Without.Detail);
  return endWith((*Linked)->Signal, (*Linked)->ExitStatus);
}

/// Does the step that the compiler cache \p Cache asks for, and returns its exit status.
llvm::Expected<int> answerCache(const CompilerCache &Cache, const DriverOptions &Options,
                                const NvccCommand &C) {
  ProcessRunner Runner;
  llvm::Expected<CommandResult> R =
      runCacheStep({C.Argv, C.Env, Cache, environment}, Options, C.Shared, C.T, Runner);
  if (!R)
    return R.takeError();
  return endWith(R->Interrupted ? R->Interrupted : R->Signal, R->ExitStatus);
}

/// Classifies the command \p ForNvcc and runs it: a compile, a step of a compiler cache, a device
/// link, or nvcc itself.
int runForNvcc(std::vector<std::string> ForNvcc, DriverOptions Options, llvm::StringRef OwnPath,
               const Toolchain &T) {
  llvm::SmallString<256> WorkDir;
  (void)llvm::sys::fs::current_path(WorkDir);
  NvccCommand C{std::move(ForNvcc),
                {environment("NVCC_PREPEND_FLAGS").value_or(""),
                 environment("NVCC_APPEND_FLAGS").value_or(""), WorkDir.str().str()},
                T};
  Classification Class = classify(C.Argv, C.Env);
  if (auto *Compile = std::get_if<CommandLine>(&Class))
    return endOrFallBack(runCompileCommand(std::move(*Compile), std::move(Options), OwnPath, C), C);
  CompilerCache Cache = compilerCacheInFront(environment);
  if (isCacheStep(C.Argv, Cache))
    return endOrFallBack(answerCache(Cache, Options, C), C);
  if (auto *Link = std::get_if<DeviceCodeLink>(&Class))
    return endOrFallBack(runLink(*Link, C), C);
  return fail(fallBack(T, C.Shared, C.Argv, std::get<Passthrough>(Class)));
}

int runDriver(int Argc, char **Argv) {
  std::string OwnPath = llvm::sys::fs::getMainExecutable(Argv[0], nullptr);
  std::vector<std::string> ForNvcc;
  llvm::Expected<DriverOptions> Options =
      takeDriverOptions(std::vector<std::string>(Argv + 1, Argv + Argc), environment, ForNvcc);
  if (!Options)
    return fail(Options.takeError());
  if (Options->Help || Options->HelpWords || Options->Version) {
    llvm::outs() << (Options->Help || Options->HelpWords
                         ? driverHelp(/*ForCompletion=*/Options->HelpWords)
                         : versionText("carve-nvcc"));
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

  return runForNvcc(std::move(ForNvcc), std::move(*Options), OwnPath, *T);
}

} // namespace

int main(int Argc, char **Argv) {
  removeRegisteredOnSignals();
  return runDriver(Argc, Argv);
}
