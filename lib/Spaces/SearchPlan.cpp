// Finds out what a search starts from: the command as nvcc understands it, the configurations, and
// the architectures for which the command compiles.
#include "Spaces/SearchPlan.h"

#include "Compile/DriverOptions.h"
#include "Nvcc/BuildPlan.h"
#include "Spaces/SearchBuild.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Process.h"

using namespace carve;

/// Returns the part of the command that is nvcc's.
static llvm::Expected<CommandLine> readCommand(const SearchRequest &Request) {
  llvm::ArrayRef<std::string> Words = Request.Command;
  if (Words.size() < 2 || llvm::StringRef(Words.front()).starts_with("-"))
    return usageError("carve search: expected the compiler's whole command after '--', such as: "
                      "-- carve-nvcc -O3 mm.cu -o mm");
  std::vector<std::string> ForNvcc;
  auto Options =
      takeDriverOptions(Words.drop_front(), [](llvm::StringRef) { return std::nullopt; }, ForNvcc);
  if (!Options)
    return Options.takeError();
  llvm::Expected<CommandLine> Line = parseCommandLine(ForNvcc, Request.Nvcc);
  if (Line)
    return Line;
  return usageError("carve search: a command that cannot be searched: " +
                    llvm::toString(Line.takeError()));
}

/// Returns the architectures for which the command makes images, in its order.
static llvm::Expected<std::vector<std::string>> architecturesOf(SearchState &S) {
  Command C;
  C.Argv = {S.T.Nvcc, "--dryrun", "--keep", "--keep-dir", S.Work->path()};
  llvm::append_range(C.Argv, S.Line.Expanded);
  C.CaptureStdout = C.CaptureStderr = true;
  C.StdinPath = "/dev/null";
  llvm::Expected<CommandResult> Result = runChecked(S.Runner, C);
  if (!Result)
    return Result.takeError();
  llvm::Expected<BuildPlan> Plan = parseDryrun(Result->Stderr);
  if (!Plan)
    return Plan.takeError();
  std::vector<std::string> Archs;
  for (const DeviceUnit &Unit : Plan->Units)
    for (const DeviceImage &Image : Unit.Images)
      if (!llvm::is_contained(Archs, Image.Arch))
        Archs.push_back(Image.Arch);
  return Archs;
}

/// Chooses the architecture of the metrics. A traced run can replace it by the GPU's.
static llvm::Error chooseArchitecture(SearchState &S) {
  S.Record.Arch = S.Request.Arch;
  if (!S.Record.Arch.empty())
    return llvm::Error::success();
  auto Archs = architecturesOf(S);
  if (!Archs)
    return Archs.takeError();
  if (Archs->empty())
    return usageError("carve search: the command names no real architecture, expected "
                      "--arch=sm_XX");
  S.Record.Arch = Archs->back();
  return llvm::Error::success();
}

/// Returns why the programs of this search cannot be timed, or an empty string.
static std::string whyNotTimed(const SearchState &S) {
  if (S.Line.Makes != Product::Executable)
    return "the command makes no program that could be run, only " + S.Line.Output;
  return S.recorded() ? "" : S.Request.NoGpu;
}

llvm::Error carve::planSearch(SearchState &S) {
  const SearchRequest &Request = S.Request;
  llvm::Expected<CommandLine> Line = readCommand(Request);
  if (!Line)
    return Line.takeError();
  S.Line = std::move(*Line);
  // The compiler is looked up now, because its absence would otherwise be found only after
  // everything is timed.
  if (auto Compiler = commandCompiler(S); !Compiler)
    return Compiler.takeError();
  llvm::Expected<std::string> Version = nvccVersion(S.T, S.Runner);
  if (!Version)
    return Version.takeError();
  llvm::Expected<TempDir> Work = TempDir::create("carve-search");
  if (!Work)
    return Work.takeError();
  S.Work = std::move(*Work);
  SearchRecord &Record = S.Record;
  Record.NvccVersion = std::move(*Version);
  Record.Command = llvm::join(Request.Command, " ");
  Record.Combinations = Request.Space.size();
  for (const SpaceMacro &M : Request.Space.Macros)
    Record.Space += (Record.Space.empty() ? "" : ";") + M.Name + "=" + llvm::join(M.Values, ",");
  Record.Where = Request.Where ? Request.Where->text() : "";
  Record.Metric = Request.Metric.empty() ? "GPU time" : Request.Metric;
  Record.Carving = Request.Carving;
  Record.Exhaustive = Request.Exhaustive;
  Record.Output = S.Line.Output;
  Record.NotTimed = whyNotTimed(S);
  auto Configurations = configurationsOf(Request.Space, Request.Where ? &*Request.Where : nullptr);
  if (!Configurations)
    return Configurations.takeError();
  if (Configurations->empty())
    return usageError("--where '" + Record.Where + "' leaves none of the " +
                      llvm::Twine(Record.Combinations) + " configurations");
  for (Configuration &C : *Configurations) {
    Record.Configurations.emplace_back();
    Record.Configurations.back().Macros = std::move(C);
  }
  return chooseArchitecture(S);
}
