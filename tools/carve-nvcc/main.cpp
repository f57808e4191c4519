// carve-nvcc: split argv, run the pipeline or become nvcc, map errors to exit codes.

#include "Driver/CompilePipeline.h"
#include "Driver/Fallback.h"
#include "Driver/Terminal.h"
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

constexpr char Help[] =
    R"(carve-nvcc: nvcc that tunes the register count of every kernel. Takes nvcc's options, and:
  --carve-run=COMMAND           the workload that tunes; 'none' turns tuning off, 'auto' runs the
                                executable made, without arguments (also: CARVE_RUN)
  --carve-output=FILE           a file of the workload whose content must not change; repeatable
  --carve-timeout=SECONDS       for one run of the workload (60)
  --carve-max-runs=N            of the workload (400)
  --carve-scope=kernel|file     a cap per kernel, or one per file by -maxrregcount (kernel)
  --carve-launch-domain=preserve|traced
                                every launch that nvcc's build accepts, or the blocks seen (preserve)
  --carve-profile=FILE          read and write decisions there (also: CARVE_PROFILE)
  --carve-samples=FILE          recorded samples in the GPU's place
  --carve-log=FILE              what was decided and run; - is stderr (also: CARVE_LOG)
  --carve-version, --carve-help
See carve-nvcc(1) and carve(1).
)";

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

CompileRequest makeRequest(CommandLine Line, DriverOptions Options, const std::string &OwnPath,
                           std::string WorkDir, TerminalProgress &Progress) {
  CompileRequest R;
  R.ConfigureProbe = isConfigureProbe(Line, WorkDir);
  R.Line = std::move(Line);
  R.Options = std::move(Options);
  R.WorkDir = std::move(WorkDir);
  R.TempRoot = environment("TMPDIR").value_or("/tmp");
  R.Install = findInstallTree(OwnPath);
  R.GpuPresent = gpuPresent(environment);
  R.StoreLimitBytes = storeLimit(environment);
  R.Progress = [&Progress](unsigned Done, unsigned Expected, double Seconds) {
    Progress.show(Done, Expected, Seconds);
  };
  return R;
}

int runDriver(int Argc, char **Argv) {
  std::string OwnPath = llvm::sys::fs::getMainExecutable(Argv[0], nullptr);
  std::vector<std::string> ForNvcc;
  llvm::Expected<DriverOptions> Options =
      takeDriverOptions(std::vector<std::string>(Argv + 1, Argv + Argc), environment, ForNvcc);
  if (!Options)
    return fail(Options.takeError());
  if (Options->Help || Options->Version) {
    llvm::outs() << (Options->Help ? Help : "carve-nvcc " CARVE_VERSION "\n");
    return 0;
  }
  if (!Options->LogPath.empty())
    if (llvm::Error E = openLog(Options->LogPath))
      return fail(std::move(E));
  llvm::Expected<Toolchain> T = findToolchain(environment, OwnPath);
  if (!T)
    return fail(T.takeError());

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
  // Without a store that can be written, this compile alone remembers.
  std::optional<TempDir> Temporary;
  if (!Store || !Store->writable()) {
    llvm::Expected<TempDir> Dir = TempDir::create("carve-store");
    if (!Dir)
      return fail(fallBack(*T, Store, ForNvcc, "no-store", llvm::toString(Dir.takeError())));
    Temporary = std::move(*Dir);
    Store.emplace(Temporary->path());
  }
  TerminalProgress Progress(::isatty(2));
  ProcessRunner Runner;
  CompileRequest Request =
      makeRequest(std::move(*Line), std::move(*Options), OwnPath, WorkDir.str().str(), Progress);
  llvm::Expected<CompileResult> Result = compile(Request, *Store, *T, Runner);
  Progress.clear();
  if (!Result) {
    llvm::Error Rest = llvm::handleErrors(Result.takeError(), Left);
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
