// `carve evaluate`: the search of tuning on a table of measurements, or the knobs by the reports of
// tunings that were made.

#include "Evaluate/EvaluateCommand.h"

#include "Evaluate/EvaluationReport.h"
#include "Evaluate/KnobGainsReport.h"
#include "Report/JsonReport.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Flags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;

namespace {

struct EvaluateOptions {
  std::vector<std::string> Files;
  std::string Arch = "sm_90";
  EvaluationLimits Limits;
  bool Knobs = false;
  bool Json = false;
};

Flags evaluateFlags(EvaluateOptions &O) {
  Flags F("carve evaluate");
  F.form("[options] SWEEP.tsv", "what the search finds on a table of measurements; needs no GPU");
  F.form("--knobs [options] REPORT...", "what each knob gained in tunings that were made");
  F.arguments("SWEEP.tsv", O.Files, "the table, or reports as JSON and folders of them");
  F.flag("--knobs", O.Knobs, "how often each knob won, and what is gained without it");
  F.seconds("--budget", "SECONDS", O.Limits.BudgetS, "time for a program's tuning").Default =
      "as for carve tune";
  F.seconds("--run", "SECONDS", O.Limits.RunS, "time for one run of a program").Default =
      "the GPU time of its kernels";
  F.number("--effort", "0|1|2|3", O.Limits.Effort, 0, 3, "what is tried, as for carve tune");
  F.text("--arch", "ARCH", O.Arch, "the architecture that was measured");
  F.choice("--format", {"text", "json"}, O.Json, "how the result is printed");
  return F;
}

/// Appends to \p Paths the files `*.json` of the folder \p Folder, by name. Fails if there are
/// none, or if the folder cannot be read.
llvm::Error addReports(const std::string &Folder, std::vector<std::string> &Paths) {
  namespace fs = llvm::sys::fs;
  std::vector<std::string> Found;
  std::error_code Failed;
  for (fs::directory_iterator It(Folder, Failed), End; !Failed && It != End; It.increment(Failed))
    if (llvm::StringRef(It->path()).ends_with(".json"))
      Found.push_back(It->path());
  if (Failed)
    return malformed(Folder + ": " + Failed.message());
  if (Found.empty())
    return usageError("carve evaluate: no reports in the folder '" + Folder + "', expected *.json");
  llvm::sort(Found);
  llvm::append_range(Paths, Found);
  return llvm::Error::success();
}

llvm::Error evaluateReports(const EvaluateOptions &Options) {
  std::vector<std::string> Paths;
  for (const std::string &File : Options.Files) {
    if (!llvm::sys::fs::is_directory(File)) {
      Paths.push_back(File);
      continue;
    }
    if (llvm::Error E = addReports(File, Paths))
      return E;
  }
  if (Paths.empty())
    return usageError("carve evaluate: no report, expected REPORT.json or a folder of them");
  std::vector<TunedProgram> Programs;
  for (const std::string &Path : Paths) {
    llvm::Expected<std::string> Text = readFileOrPipe(Path, FileLimit::Record);
    if (!Text)
      return Text.takeError();
    llvm::Expected<TuningReport> Report = parseJsonReport(*Text, Path);
    if (!Report)
      return Report.takeError();
    Programs.push_back({Path, std::move(*Report)});
  }
  llvm::Expected<KnobGains> Gains = evaluateKnobs(Programs);
  if (!Gains)
    return Gains.takeError();
  llvm::outs() << (Options.Json ? printKnobGainsJson(*Gains) : printKnobGainsText(*Gains));
  return llvm::Error::success();
}

} // namespace

llvm::Error carve::runEvaluate(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  EvaluateOptions Options;
  if (llvm::Error E = evaluateFlags(Options).parse(Args))
    return E;
  if (Options.Knobs)
    return evaluateReports(Options);
  const std::vector<std::string> &Files = Options.Files;
  if (Files.empty())
    return usageError("carve evaluate: no table, expected SWEEP.tsv");
  if (Files.size() > 1)
    return usageError("carve evaluate: unexpected '" + Files[1] + "', expected one SWEEP.tsv");
  llvm::Expected<DeviceModel> Device = loadDeviceModel(Context.Install.DevicesDir, Options.Arch);
  if (!Device)
    return Device.takeError();
  llvm::Expected<std::string> Text = readFileOrPipe(Files.front(), FileLimit::Record);
  if (!Text)
    return Text.takeError();
  llvm::Expected<std::vector<SweepRow>> Rows = parseSweepTable(*Text, Files.front());
  if (!Rows)
    return Rows.takeError();
  llvm::Expected<SweepEvaluation> E = evaluateSweep(*Rows, *Device, Options.Limits);
  if (!E)
    return E.takeError();
  if (Options.Json)
    for (const std::string &Name : E->LeftOut)
      llvm::errs() << "carve: warning: " << Name << ": left out, no time of the default\n";
  llvm::outs() << (Options.Json ? printEvaluationJson(*E) : printEvaluationText(*E));
  return llvm::Error::success();
}
