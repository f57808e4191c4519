// carve: the companion of carve-nvcc. Dispatches to the commands and maps errors to exit statuses.

#include "Captures/CaptureCommand.h"
#include "Doctor/DoctorCommand.h"
#include "Evaluate/EvaluateCommand.h"
#include "Explain/ExplainCommand.h"
#include "Export/ExportCommand.h"
#include "Metrics/MetricsCommand.h"
#include "Points/PointsCommand.h"
#include "Profiles/CheckCommand.h"
#include "Profiles/KernelsCommand.h"
#include "Profiles/ProfilesCommand.h"
#include "Report/ReportCommand.h"
#include "Spaces/SearchCommand.h"
#include "Store/StoreCommand.h"
#include "Store/TouchCommand.h"
#include "Support/Error.h"
#include "Support/Log.h"
#include "Support/SignalCleanup.h"
#include "Tune/TuneCommand.h"
#include "Version/Version.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>

using namespace carve;

namespace {

constexpr char Help[] = R"(usage: carve COMMAND [options]
  points [--arch=sm_90] [--block=256|32x8x1] [--dynamic-smem=BYTES] [--format=text|json]
         FILE.cu|FILE.ptx [-- nvcc options]
                      register regions and critical points; needs no GPU
  metrics [--arch=sm_90] [--block=256|32x8x1] [--grid=1024|64x64] [--dynamic-smem=BYTES]
          [--trips=N | --trips=[KERNEL:]LOOP=N | --trips=[KERNEL:]LLINE=N]...
          [--format=text|json] FILE.cu|FILE.ptx|FILE.cubin [-- nvcc options]
                      what the kernels' code costs, from PTX and machine code; needs no GPU
  metrics --count [--kernel=NAME]... [--trips=...]... [--timeout=S] [--stdin=FILE]
          [--format=text|json] -- COMMAND...
                      the same for COMMAND's kernels, with loops counted in one run
  tune [--timeout=S] [--max-runs=N] [--budget=S] [--mode=auto|fixed|rotate|replay]
       [--effort=0|1|2|3] [--points=critical|every-8|all] [--scope=kernel|file]
       [--launch-domain=preserve|traced]
       [--stdin=FILE] [--output=FILE]... [--profile=FILE] [--samples=FILE | --record=FILE]
       [--format=text|json] [--quiet] -- COMMAND...
                      time variants in COMMAND's kernels; the next build emits the winners
  tune [options] --from CAPTURE...
                      the same with captured launches instead of a program
  capture [-o DIR] [--kernel=REGEX] [--launches=N] [--timeout=S] [--stdin=FILE] [--no-check]
          [--format=text|json] [--quiet] -- COMMAND...
                      write launches of the hot kernels, each with its data, to files
  capture --list [--format=text|json] FILE...
                      list what captures contain
  search --space='TILE=8,16;UNROLL=1..4' [--where=EXPRESSION] [--block=X,Y,Z] [--grid=X,Y,Z]
       [--dynamic-smem=BYTES] [--launches=N] [--trips=N | --trips=LOOP=N | --trips=LLINE=N]...
       [--kernel=REGEX] [--arch=sm_90] [--effort=0..3] [--budget=N] [--margin=SHARE]
       [--least-efficiency=SHARE] [--least-utilization=SHARE] [--exhaustive] [--run='WORDS']
       [--metric=REGEX] [--metric-larger-is-better] [--timeout=S] [--stdin=FILE]
       [--output=FILE]... [--samples=FILE | --record=FILE] [--plot=FILE.svg] [-j N]
       [--format=text|json] [--quiet] -- carve-nvcc -O3 mm.cu -o mm
                      compile a program in all configurations of its macros, carve, time
                      what is left; the command's output is the fastest
  kernels [--profile=FILE] [--exit-code] [--format=text|json] [FOLDER...]
                      the kernels that the store knows, as profiles name them, and their settings
  touch [--profile=FILE] [--list] [--all] [--format=text|json] [FOLDER...]
                      make the build repeat outputs that have a new decision or profile, if
                      their depfile does not say so
  report [--format=text|json|html] [--report=FILE|latest] [-o FILE]
                      print the last tuning's result again, or as a page with plots
  explain [--report=FILE|latest] [--format=text|json] [KERNEL]
                      what became of every variant of a kernel, and why
  explain [--counters=auto|off] [--modified=auto|off] [--timeout=S] [--stdin=FILE]
          [--report=FILE|latest] [--format=text|json] [--quiet] [KERNEL] -- COMMAND...
                      what limits COMMAND's kernels: memory, instructions, latency
  merge FILE... [-o FILE]
                      merge several profiles into one, for a team
  diff [--format=text|json] [--exit-code] BEFORE AFTER
                      what differs between two profiles
  check [--format=text|json|junit|sarif] [-o FILE] [--max-spill-increase=BYTES]
        [--max-regs-increase=N] [--max-occupancy-loss=PERCENT] [--max-time-increase=PERCENT]
        [--across] [--strict] [--quiet] BASE NEW
                      whether kernels became worse from one profile or report to another
  export --as=launch-bounds|maxnreg|patch|flags [-o FILE] [--format=text|json|cmake|make]
         [--profile=FILE] [--report=FILE|latest] [--dir=PROJECT] [--arch=sm_90]
         [--max-threads=N] [--verify|--no-verify] [KERNEL...]
                      the decisions without carve-nvcc: as a patch, or as options for nvcc
  evaluate SWEEP.tsv [--budget=12] [--effort=0..3] [--arch=sm_90] [--format=text|json]
                      what the search finds on a table of measurements; needs no GPU
  store stats|verify|prune|clear [--format=text|json] [--repair] [--max-size=MB]
                      show, check or shrink what the store remembers
  doctor [--format=text|json]
                      what works on this machine, and how to mend what does not
  --version, --help   see carve(1)
CARVE_LOG=FILE receives every decision and every command that is run.
)";

std::optional<std::string> environment(llvm::StringRef Name) {
  return llvm::sys::Process::GetEnv(Name);
}

/// Returns the part of the help that is about \p Command, or an empty text if there is no such
/// command.
std::string helpOf(llvm::StringRef Command) {
  std::string Text;
  bool Inside = false;
  for (llvm::StringRef Line : llvm::split(llvm::StringRef(Help), '\n')) {
    // A command starts in column 2; its further lines are indented by more.
    if (!Line.starts_with("   "))
      Inside = Line.starts_with(("  " + Command + " ").str());
    if (Inside)
      Text += (Line.starts_with("   ") ? Line : "carve " + Line.drop_front(2)).str() + "\n";
  }
  return Text;
}

/// True if \p Args ask for help before `--`. After it, the option is for the user's command.
bool asksForHelp(llvm::ArrayRef<std::string> Args) {
  auto Own = llvm::make_range(Args.begin(), llvm::find(Args, "--"));
  return llvm::is_contained(Own, "--help") || llvm::is_contained(Own, "-h");
}

using CommandFunction = llvm::Error (*)(llvm::ArrayRef<std::string>, const CommandContext &);
constexpr std::pair<llvm::StringLiteral, CommandFunction> Commands[] = {
    {"points", runPoints},   {"metrics", runMetrics}, {"tune", runTune},
    {"capture", runCapture}, {"search", runSearch},   {"kernels", runKernels},
    {"touch", runTouch},     {"report", runReport},   {"explain", runExplain},
    {"merge", runMerge},     {"diff", runDiff},       {"check", runCheck},
    {"export", runExport},   {"store", runStore},     {"evaluate", runEvaluate},
    {"doctor", runDoctor}};

llvm::Error dispatch(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  for (const auto &[Name, Run] : Commands) {
    if (Args.front() != Name)
      continue;
    if (!asksForHelp(Args.drop_front()))
      return Run(Args.drop_front(), Context);
    llvm::outs() << "usage:\n" << helpOf(Name);
    return llvm::Error::success();
  }
  return usageError("unknown command '" + Args.front() + "', expected one of " +
                    llvm::join(llvm::make_first_range(Commands), ", "));
}

/// Prints what failed and returns the exit status. If a signal asked us to stop, ends this process
/// by that signal.
int reportFailure(llvm::Error E) {
  int Signal = 0, Status = 1;
  llvm::handleAllErrors(
      std::move(E),
      [&](const Interrupted &I) {
        Signal = I.signal();
        llvm::errs() << "carve: error: interrupted\n";
      },
      [](const Differs &) {},
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
  if (Args.empty() || Args.front() == "--help" || Args.front() == "help") {
    (Args.empty() ? llvm::errs() : llvm::outs()) << Help;
    return Args.empty() ? 1 : 0;
  }
  if (Args.front() == "--version") {
    llvm::outs() << versionText("carve");
    return 0;
  }
  std::string OwnPath = llvm::sys::fs::getMainExecutable(Argv[0], nullptr);
  CommandContext Context{OwnPath, findInstallTree(OwnPath), environment, ProjectVersion};
  llvm::Error E = llvm::Error::success();
  if (auto Log = environment("CARVE_LOG"); Log && !Log->empty())
    E = openLog(*Log);
  if (!E)
    E = dispatch(Args, Context);
  return E ? reportFailure(std::move(E)) : 0;
}
