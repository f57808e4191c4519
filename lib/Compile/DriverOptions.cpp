#include "Compile/DriverOptions.h"

#include "Support/Error.h"
#include "Support/Flags.h"
#include "Tune/Job/TuningOptions.h"

#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/StringSaver.h"

#include <unistd.h>

using namespace carve;

static constexpr char Help[] =
    R"(carve-nvcc: an nvcc that tunes registers and other knobs of every kernel
It takes nvcc's options, and these (defaults in parentheses):
  --carve-run=COMMAND           the workload to tune with; 'none' turns tuning off, 'auto' runs the
                                new executable without arguments (auto; also: CARVE_RUN)
  --carve-output=FILE           a file of the workload whose content must not change; repeatable
  --carve-timeout=SECONDS       the limit for one run of the workload (60)
  --carve-max-runs=N            the most runs of the workload (400)
  --carve-budget=SECONDS        the limit for the whole tuning (none)
  --carve-mode=auto|fixed|rotate|replay
                                time variants inside one run of the workload, or one run each (auto)
  --carve-effort=0|1|2|3        how much is tried: 0 register caps; 1 also caps of the front end;
                                2 also other knobs, and caps around the best; 3 also register-usage
                                levels (2; also: CARVE_EFFORT)
  --carve-scope=kernel|file     a variant per kernel, or a cap per file by -maxrregcount (kernel)
  --carve-launch-domain=preserve|traced
                                keep every launch valid that nvcc's build accepts, or only blocks up
                                to the largest seen (preserve)
  --carve-profile=FILE          read and write decisions in this file (also: CARVE_PROFILE)
  --carve-samples=FILE          use recorded samples instead of a GPU
  --carve-quiet                 show no progress and no table on a terminal
  --carve-log=FILE              log decisions and processes; - is stderr (also: CARVE_LOG)
  --carve-cache-key             print what objects depend on besides sources, for ccache's
                                compiler_check
  --carve-version, --carve-help
See carve-nvcc(1) and carve(1).
)";

llvm::StringRef carve::driverHelp() { return Help; }

static std::vector<std::string> splitWords(llvm::StringRef Text) {
  llvm::BumpPtrAllocator Memory;
  llvm::StringSaver Saver(Memory);
  llvm::SmallVector<const char *, 16> Words;
  llvm::cl::TokenizeGNUCommandLine(Text, Saver, Words);
  return std::vector<std::string>(Words.begin(), Words.end());
}

static llvm::Error setRun(llvm::StringRef Value, llvm::StringRef From, DriverOptions &O) {
  if (Value == "none" || Value == "auto") {
    O.Run = Value == "none" ? RunMode::None : RunMode::Auto;
    return llvm::Error::success();
  }
  O.Run = RunMode::Command;
  O.RunCommand = splitWords(Value);
  if (O.RunCommand.empty())
    return usageError("carve-nvcc: " + From + " is '" + Value +
                      "', expected a command, 'auto' or 'none'");
  return llvm::Error::success();
}

llvm::Expected<DriverOptions> carve::takeDriverOptions(llvm::ArrayRef<std::string> Argv, GetEnv Env,
                                                       std::vector<std::string> &ForNvcc) {
  DriverOptions O;
  unsigned Scope = 0, Domain = 0, Mode = 0;
  Flags F("carve-nvcc");
  F.list("--carve-output", O.OutputFiles);
  F.seconds("--carve-timeout", O.TimeoutS);
  F.number("--carve-max-runs", O.MaxRuns, 1, 1000000);
  F.seconds("--carve-budget", O.BudgetS);
  F.choice("--carve-mode", {"auto", "fixed", "rotate", "replay"}, Mode);
  F.number("--carve-effort", O.Effort, 0, MaxEffort);
  F.choice("--carve-scope", {"kernel", "file"}, Scope);
  F.choice("--carve-launch-domain", {"preserve", "traced"}, Domain);
  std::string GivenProfile;
  F.text("--carve-profile", GivenProfile);
  F.text("--carve-log", O.LogPath);
  F.text("--carve-samples", O.Samples);
  F.flag("--carve-quiet", O.Quiet);
  F.flag("--carve-help", O.Help);
  F.flag("--carve-version", O.Version);
  F.flag("--carve-cache-key", O.CacheKey);

  llvm::Expected<unsigned> Effort = defaultEffort(Env);
  if (!Effort)
    return Effort.takeError();
  O.Effort = *Effort;
  O.LogPath = Env("CARVE_LOG").value_or("");
  if (auto Run = Env("CARVE_RUN"); Run && !Run->empty())
    if (llvm::Error E = setRun(*Run, "CARVE_RUN", O))
      return E;
  for (llvm::StringRef Arg : Argv) {
    if (!Arg.starts_with("--carve-")) {
      ForNvcc.push_back(Arg.str());
      continue;
    }
    auto [Name, After] = Arg.split('=');
    std::string Value = After.str();
    if (Name == "--carve-run") {
      if (llvm::Error E = setRun(Arg.contains('=') ? llvm::StringRef(Value) : "auto", Name, O))
        return E;
      continue;
    }
    llvm::Expected<bool> Known = F.apply(Name, Arg.contains('=') ? &Value : nullptr);
    if (!Known)
      return Known.takeError();
    if (!*Known)
      return usageError("carve-nvcc: unknown option '" + Name + "'; --carve-help lists them");
  }
  O.ProfileByOption = !GivenProfile.empty();
  O.ProfilePath = O.ProfileByOption ? GivenProfile : Env("CARVE_PROFILE").value_or("");
  O.Mode = ModeRequest(Mode);
  O.Scope = Scope ? TuningScope::File : TuningScope::Kernel;
  O.Domain = Domain ? LaunchDomain::Traced : LaunchDomain::Preserve;
  return O;
}
