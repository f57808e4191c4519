#include "Compile/DriverOptions.h"

#include "Support/Error.h"
#include "Tune/TuningFlags.h"

#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/StringSaver.h"

#include <utility>

using namespace carve;

static std::vector<std::string> splitWords(llvm::StringRef Text) {
  llvm::BumpPtrAllocator Memory;
  llvm::StringSaver Saver(Memory);
  llvm::SmallVector<const char *, 16> Words;
  llvm::cl::TokenizeGNUCommandLine(Text, Saver, Words);
  return std::vector<std::string>(Words.begin(), Words.end());
}

/// Stores the workload. Returns what was expected if \p Value has no words, otherwise an empty
/// text.
static std::string setRun(llvm::StringRef Value, DriverOptions &O) {
  if (Value == "none" || Value == "auto") {
    O.Run = Value == "none" ? RunMode::None : RunMode::Auto;
    return "";
  }
  O.Run = RunMode::Command;
  O.RunCommand = splitWords(Value);
  return O.RunCommand.empty() ? "a command, 'auto' or 'none'" : "";
}

/// Returns the table of options, in the order of the help.
static Flags driverFlags(DriverOptions &O) {
  Flags F("carve-nvcc");
  F.form("[options] [NVCC-OPTION...] FILE...",
         "an nvcc that tunes registers and other knobs of every kernel");
  OptionText &Run = F.value(
      "--carve-run", "COMMAND", [&O](llvm::StringRef Value) { return setRun(Value, O); },
      "the workload to tune with; auto runs the new executable, none turns tuning off");
  Run.Default = Run.IfAbsent = "auto";
  Run.Variable = "CARVE_RUN";
  registerTuning(F, "--carve-",
                 {O.TimeoutS, O.MaxRuns, O.BudgetS, O.Mode, &O.Effort, &O.Scope, O.Domain,
                  O.Entries, O.OutputFiles, O.Samples, /*Gpus=*/nullptr});
  F.text("--carve-profile", "FILE", O.ProfilePath,
         "read decisions from this profile, and write those of a tuning to it")
      .Variable = "CARVE_PROFILE";
  F.flag("--carve-quiet", O.Quiet, "show neither progress nor the table on a terminal");
  F.text("--carve-log", "FILE", O.LogPath,
         "append decisions and processes to this file; - is standard error")
      .Variable = "CARVE_LOG";
  F.flag("--carve-cache-key", O.CacheKey,
         "print what objects depend on besides sources and commands, for ccache");
  F.flag("--carve-help", O.Help, "print this help");
  F.flag("--carve-version", O.Version, "print the version of carve-nvcc");
  return F;
}

std::string carve::driverHelp(bool ForCompletion) {
  DriverOptions Unused;
  const CommandText Text = driverFlags(Unused).help();
  return ForCompletion ? printCompletion(Text)
                       : printHelp(Text) + "See carve-nvcc(1) and carve(1).\n";
}

llvm::Expected<DriverOptions> carve::takeDriverOptions(llvm::ArrayRef<std::string> Argv, GetEnv Env,
                                                       std::vector<std::string> &ForNvcc) {
  DriverOptions O;
  const Flags F = driverFlags(O);
  if (llvm::Error E = F.applyVariables(Env))
    return E;
  const std::string OfEnvironment = std::exchange(O.ProfilePath, "");
  for (llvm::StringRef Arg : Argv) {
    if (!Arg.starts_with("--carve-")) {
      ForNvcc.push_back(Arg.str());
      continue;
    }
    if (Arg == "--carve-help=words") {
      O.HelpWords = true;
      continue;
    }
    auto [Name, After] = Arg.split('=');
    std::string Value = After.str();
    llvm::Expected<bool> Known = F.apply(Name, Arg.contains('=') ? &Value : nullptr);
    if (!Known)
      return Known.takeError();
    if (!*Known)
      return usageError("carve-nvcc: unknown option '" + Name + "'; --carve-help lists them");
  }
  O.ProfileByOption = !O.ProfilePath.empty();
  if (!O.ProfileByOption)
    O.ProfilePath = OfEnvironment;
  return O;
}
