#include "Spaces/SearchCommand.h"

#include "Command/Installation.h"
#include "Nvcc/BuildPlan.h"
#include "Report/Terminal.h"
#include "Spaces/SearchJson.h"
#include "Spaces/SearchPipeline.h"
#include "Spaces/SearchReport.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Flags.h"
#include "Tune/RankedWork.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <re2/re2.h>

#include <unistd.h>

using namespace carve;

namespace {

/// The words of `carve search`, before they are checked.
struct SearchWords {
  std::vector<std::string> Space, Run, Trips;
  std::string Where, Block, Grid, DynamicSmem, Launches, Plot;
  std::string Margin, LeastEfficiency, LeastUtilization;
  std::vector<std::string> Positional; ///< None is expected.
  unsigned Effort = 2, Budget = 0;
  bool Json = false, Quiet = false;
};

Flags searchFlags(SearchWords &W, SearchRequest &R) {
  Flags F("carve search");
  F.form("--space=SPACE [options] -- carve-nvcc -O3 mm.cu -o mm",
         "compile a program in all configurations of its macros, carve, time what is left");
  F.arguments("", W.Positional);
  F.behind("COMPILER...", R.Command, "the command, whose output is made of the fastest");
  F.list("--space", "SPACE", W.Space, "the values of each macro, as 'TILE=8,16;UNROLL=1..4'");
  F.text("--where", "EXPRESSION", W.Where, "only configurations for which this holds");
  F.text("--block", "X,Y,Z", W.Block, "block of the launch, as expressions over the macros");
  F.text("--grid", "X,Y,Z", W.Grid, "grid of the launch, as expressions over the macros");
  F.text("--dynamic-smem", "BYTES", W.DynamicSmem,
         "dynamic shared memory of a block, as an expression");
  F.text("--launches", "N", W.Launches, "launches in a run of the program, as an expression");
  F.list("--trips", "N|LOOP=N|LLINE=N", W.Trips,
         "trip count of a loop by its number or line, as an expression; N alone: of all others");
  F.text("--kernel", "REGEX", R.KernelPattern, "only kernels whose demangled name matches");
  F.text("--arch", "ARCH", R.Arch, "architecture such as sm_90").Default =
      "the GPU's, otherwise the command's last";
  F.number("--effort", "0|1|2|3", W.Effort, 0, 3,
           "how many are timed: margins of 0, 15, 40, 60 %; at most 8, 16, 24, 48 configurations");
  F.number("--budget", "N", W.Budget, 1, 100000, "time so many configurations at most").Default =
      "by effort";
  const SpaceCarving &Carving = R.Carving;
  F.text("--margin", "SHARE", W.Margin, "how far from the Pareto front a configuration may be")
      .Default = "by effort";
  F.text("--least-efficiency", "SHARE", W.LeastEfficiency,
         "leave out what is below this share of the largest efficiency")
      .Default = llvm::formatv("{0}", Carving.LeastEfficiency).str();
  F.text("--least-utilization", "SHARE", W.LeastUtilization,
         "leave out what is below this share of the largest utilization")
      .Default = llvm::formatv("{0}", Carving.LeastUtilization).str();
  F.flag("--exhaustive", R.Exhaustive, "time all configurations, and print what carving saves");
  F.list("--run", "WORDS", W.Run, "arguments of the program; {} is the program, for launchers");
  F.text("--metric", "REGEX", R.Metric,
         "the cost is what the first group matches on standard output")
      .Default = "GPU time";
  F.flag("--metric-larger-is-better", R.LargerIsBetter, "the larger metric is the better one");
  F.seconds("--timeout", "SECONDS", R.Workload.TimeoutS, "limit for one run of the program");
  F.text("--stdin", "FILE", R.Workload.StdinPath, "standard input of each run");
  F.list("--output", "FILE", R.Workload.OutputFiles,
         "a file that the program writes, whose content must not change");
  F.text("--samples", "FILE", R.SamplesPath,
         "take the times from this file instead of running the programs");
  F.text("--record", "FILE", R.RecordPath, "record the times in this file");
  F.text("--plot", "FILE", W.Plot, "write efficiency against utilization to this file, as SVG");
  F.number("-j", "N", R.Jobs, 1, 1024, "compiles at once").Default = "one for each processor";
  F.choice("--format", {"text", "json"}, W.Json, "how the result is printed");
  F.flag("--quiet", W.Quiet, "print only errors, and JSON if it is asked for");
  return F;
}

/// Reads \p Text, the value of option \p Name, as a number from 0 to \p Most. An empty text keeps
/// \p Out.
llvm::Error readShare(llvm::StringRef Name, const std::string &Text, double Most, double &Out) {
  if (Text.empty())
    return llvm::Error::success();
  double Value = 0;
  if (llvm::StringRef(Text).getAsDouble(Value) || !(Value >= 0 && Value <= Most))
    return usageError("carve search: " + Name + " is '" + Text + "', expected a number from 0 to " +
                      llvm::Twine(unsigned(Most)));
  Out = Value;
  return llvm::Error::success();
}

llvm::Error readExpressions(const std::string &Text, llvm::StringRef Option, size_t Most,
                            const ProgramSpace &Space, std::vector<MacroExpression> &Out) {
  if (Text.empty())
    return llvm::Error::success();
  auto List = parseExpressionList(Text, Option, Space.names(), Most);
  if (!List)
    return List.takeError();
  Out = std::move(*List);
  return llvm::Error::success();
}

/// Reads every option that uses the macros.
llvm::Error readSpace(const SearchWords &Words, SearchRequest &R) {
  llvm::Expected<ProgramSpace> Space = parseProgramSpace(llvm::join(Words.Space, ";"));
  if (!Space)
    return Space.takeError();
  R.Space = std::move(*Space);
  if (!Words.Where.empty()) {
    auto Where = MacroExpression::parse(Words.Where, "--where", R.Space.names());
    if (!Where)
      return Where.takeError();
    R.Where = std::move(*Where);
  }
  struct {
    const std::string &Text;
    const char *Option;
    size_t Most;
    std::vector<MacroExpression> &Out;
  } Lists[] = {{Words.Block, "--block", 3, R.Launch.Block},
               {Words.Grid, "--grid", 3, R.Launch.Grid},
               {Words.DynamicSmem, "--dynamic-smem", 1, R.Launch.DynamicSmem},
               {Words.Launches, "--launches", 1, R.Launch.Launches}};
  for (const std::string &Text : Words.Trips) {
    auto Trips = parseTripExpression(Text, R.Space.names());
    if (!Trips)
      return Trips.takeError();
    R.Trips.push_back(std::move(*Trips));
  }
  for (auto &L : Lists)
    if (llvm::Error E = readExpressions(L.Text, L.Option, L.Most, R.Space, L.Out))
      return E;
  return llvm::Error::success();
}

llvm::Error readCarving(const SearchWords &Words, SearchRequest &R) {
  R.Carving = carvingOfEffort(Words.Effort);
  if (Words.Budget)
    R.Carving.MaxSelected = Words.Budget;
  if (llvm::Error E = readShare("--margin", Words.Margin, 10, R.Carving.Margin))
    return E;
  if (llvm::Error E =
          readShare("--least-efficiency", Words.LeastEfficiency, 1, R.Carving.LeastEfficiency))
    return E;
  return readShare("--least-utilization", Words.LeastUtilization, 1, R.Carving.LeastUtilization);
}

/// Fails if \p Text is not a regular expression with at least \p Groups groups.
llvm::Error checkPattern(llvm::StringRef Option, const std::string &Text, int Groups) {
  re2::RE2 Pattern(Text, re2::RE2::Quiet);
  if (!Pattern.ok())
    return usageError("carve search: " + Option + " is '" + Text + "': " + Pattern.error());
  if (Pattern.NumberOfCapturingGroups() < Groups)
    return usageError("carve search: " + Option + " is '" + Text +
                      "', expected a group in parentheses around the number");
  return llvm::Error::success();
}

llvm::Error check(const SearchWords &Words, SearchRequest &R) {
  if (!Words.Positional.empty())
    return usageError("carve search: unexpected '" + Words.Positional.front() +
                      "', expected the compiler's command after '--'");
  if (Words.Space.empty())
    return usageError("carve search: no --space, expected --space 'NAME=VALUE,VALUE;...'");
  if (R.Command.empty())
    return usageError("carve search: no command, expected: carve search --space ... -- "
                      "carve-nvcc -O3 mm.cu -o mm");
  if (!R.SamplesPath.empty() && !R.RecordPath.empty())
    return usageError("carve search: --samples and --record exclude each other");
  if (!R.Arch.empty() && !llvm::StringRef(R.Arch).starts_with("sm_"))
    return usageError("carve search: --arch is '" + R.Arch + "', expected sm_XX");
  if (llvm::Error E = checkPattern("--metric", R.Metric, R.Metric.empty() ? 0 : 1))
    return E;
  return checkPattern("--kernel", R.KernelPattern, 0);
}

llvm::Error readOptions(llvm::ArrayRef<std::string> Args, SearchRequest &R, SearchWords &Words) {
  if (llvm::Error E = searchFlags(Words, R).parse(Args))
    return E;
  if (llvm::Error E = check(Words, R))
    return E;
  for (const std::string &Text : Words.Run) {
    auto Split = splitCommand(Text, {});
    if (!Split)
      return Split.takeError();
    llvm::append_range(R.RunWords, *Split);
  }
  if (llvm::Error E = readSpace(Words, R))
    return E;
  return readCarving(Words, R);
}

/// Fills in what comes from the environment and the installation.
void takeEnvironment(const CommandContext &Context, const Toolchain &T, SearchRequest &R) {
  llvm::SmallString<256> WorkDir;
  (void)llvm::sys::fs::current_path(WorkDir);
  R.Nvcc = {Context.Env("NVCC_PREPEND_FLAGS").value_or(""),
            Context.Env("NVCC_APPEND_FLAGS").value_or(""), WorkDir.str().str()};
  if (!gpuPresent(Context.Env))
    R.NoGpu = NoGpu;
  R.Probe = {Context.Install.Probe, findCupti(T.BinDir).value_or("")};
  R.Gpus = gpuPlaces(Context.Env);
  R.DevicesDir = Context.Install.DevicesDir;
  R.ToolsDir = llvm::sys::path::parent_path(Context.OwnPath).str();
}

/// Returns why nothing was timed, and what would be done if it could be.
std::string advice(const SearchRecord &Record, const std::string &NoGpu) {
  size_t Selected = llvm::count_if(Record.Configurations,
                                   [](const auto &C) { return C.valid() && C.selected(); });
  if (Selected == 0)
    return "no configuration is valid, the first: " + Record.Configurations.front().Macros.name() +
           ": " + Record.Configurations.front().Invalid;
  if (Record.NotTimed != NoGpu)
    return Record.NotTimed + "; " + llvm::utostr(Selected) +
           " configurations are selected, expected a command that links a program to time them";
  return Record.NotTimed + "; the " + llvm::utostr(Selected) +
         " selected configurations would be built, run and timed, and " + Record.Output +
         " made of the fastest";
}

} // namespace

/// Searches, and prints what was found.
static llvm::Error searchHere(SearchRequest &R, const SearchWords &Words, UnitStore &Store,
                              const CommandContext &Context) {
  llvm::Expected<Toolchain> T = toolchainOf(Context);
  if (!T)
    return T.takeError();
  takeEnvironment(Context, *T, R);
  TerminalProgress Progress({.Program = "carve", .Line = ::isatty(2) && !Words.Quiet});
  R.Progress = &Progress;
  ProcessRunner Runner;
  llvm::Expected<SearchRecord> Record = searchSpace(R, Store, *T, Runner);
  Progress.clear();
  if (!Record)
    return Record.takeError();
  if (Words.Json || !Words.Quiet)
    llvm::outs() << (Words.Json ? printSearchJson(*Record) : printSearchText(*Record));
  llvm::outs().flush();
  if (!Words.Plot.empty())
    if (llvm::Error E = writeFileAtomically(Words.Plot, printSearchPlot(*Record)))
      return E;
  if (!Record->NotTimed.empty())
    return usageError(advice(*Record, R.NoGpu));
  return llvm::Error::success();
}

llvm::Error carve::runSearch(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  SearchRequest R;
  SearchWords Words;
  if (llvm::Error E = readOptions(Args, R, Words))
    return E;
  return onceForAllRanks(Args, Context,
                         [&](UnitStore &Store) { return searchHere(R, Words, Store, Context); });
}
