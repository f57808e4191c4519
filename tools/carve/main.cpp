// carve: the companion of carve-nvcc. Dispatches to the commands and maps errors to exit statuses.

#include "Captures/CaptureCommand.h"
#include "Doctor/DoctorCommand.h"
#include "Evaluate/EvaluateCommand.h"
#include "Explain/ExplainCommand.h"
#include "Export/ExportCommand.h"
#include "Fleet/FleetCommand.h"
#include "Metrics/MetricsCommand.h"
#include "Points/PointsCommand.h"
#include "Profiles/CheckCommand.h"
#include "Profiles/KernelsCommand.h"
#include "Profiles/ProfilesCommand.h"
#include "Recheck/RecheckCommand.h"
#include "Report/ReportCommand.h"
#include "Spaces/SearchCommand.h"
#include "Store/StoreCommand.h"
#include "Store/TouchCommand.h"
#include "Support/Error.h"
#include "Support/Flags.h"
#include "Support/Log.h"
#include "Support/SignalCleanup.h"
#include "Tune/TuneCommand.h"
#include "Version/Version.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>

using namespace carve;

namespace {

std::optional<std::string> environment(llvm::StringRef Name) {
  return llvm::sys::Process::GetEnv(Name);
}

using CommandFunction = llvm::Error (*)(llvm::ArrayRef<std::string>, const CommandContext &);
/// The commands in the order of the help. Each first reads its words, so that with `--help` it does
/// nothing else.
constexpr std::pair<llvm::StringLiteral, CommandFunction> Commands[] = {
    {"points", runPoints},   {"metrics", runMetrics},   {"tune", runTune},
    {"fleet", runFleet},     {"capture", runCapture},   {"search", runSearch},
    {"kernels", runKernels}, {"touch", runTouch},       {"recheck", runRecheck},
    {"report", runReport},   {"explain", runExplain},   {"merge", runMerge},
    {"diff", runDiff},       {"check", runCheck},       {"export", runExport},
    {"store", runStore},     {"evaluate", runEvaluate}, {"doctor", runDoctor}};

/// Returns the list of commands, each with the line from its own help.
std::string help(const CommandContext &Context) {
  std::string Text = "usage: carve COMMAND [options]\n";
  for (const auto &[Name, Run] : Commands)
    llvm::handleAllErrors(
        Run({"--help"}, Context),
        [&](const HelpAsked &H) {
          Text += llvm::formatv("  {0,-10}{1}\n", Name, H.text().summary()).str();
        },
        [](const llvm::ErrorInfoBase &) {});
  return Text + "carve COMMAND --help lists the command's options; carve(1) describes them.\n"
                "carve --version prints the version.\n"
                "CARVE_LOG=FILE receives every decision and every command that is run.\n";
}

/// Returns the first words that `carve` takes, for the scripts in share/completion.
std::string helpWords() {
  return llvm::join(llvm::make_first_range(Commands), "\n") + "\n--help\n--version\n";
}

llvm::Error dispatch(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  for (const auto &[Name, Run] : Commands)
    if (Args.front() == Name)
      return Run(Args.drop_front(), Context);
  return usageError("unknown command '" + Args.front() + "', expected one of " +
                    llvm::join(llvm::make_first_range(Commands), ", "));
}

/// Prints what failed, or the help that the user asked for, and returns the exit status. If a
/// signal asked us to stop, ends this process by that signal.
int reportFailure(llvm::Error E) {
  int Signal = 0, Status = 1;
  llvm::handleAllErrors(
      std::move(E),
      [&](const Interrupted &I) {
        Signal = I.signal();
        llvm::errs() << "carve: error: interrupted\n";
      },
      [](const Differs &) {},
      [&](const HelpAsked &H) {
        Status = 0;
        llvm::outs() << H.message();
      },
      [&](const llvm::ErrorInfoBase &Info) {
        if (Info.isA<CannotCompare>())
          Status = 2;
        std::string Message = Info.message();
        llvm::StringRef Text = Message;
        Text.consume_front("carve: ");
        llvm::errs() << "carve: error: " << Text << "\n";
      });
  if (Signal) {
    ::signal(Signal, SIG_DFL);
    ::raise(Signal);
  }
  return Status;
}

} // namespace

int main(int Argc, char **Argv) {
  removeRegisteredOnSignals();
  std::vector<std::string> Args(Argv + 1, Argv + Argc);
  std::string OwnPath = llvm::sys::fs::getMainExecutable(Argv[0], nullptr);
  CommandContext Context{OwnPath, findInstallTree(OwnPath), environment, ProjectVersion};
  if (Args.empty() || Args.front() == "--help" || Args.front() == "help") {
    (Args.empty() ? llvm::errs() : llvm::outs()) << help(Context);
    return Args.empty() ? 1 : 0;
  }
  if (Args.front() == "--help=words" || Args.front() == "--version") {
    llvm::outs() << (Args.front() == "--version" ? versionText("carve") : helpWords());
    return 0;
  }
  llvm::Error E = llvm::Error::success();
  if (auto Log = environment("CARVE_LOG"); Log && !Log->empty())
    E = openLog(*Log);
  if (!E)
    E = dispatch(Args, Context);
  return E ? reportFailure(std::move(E)) : 0;
}
