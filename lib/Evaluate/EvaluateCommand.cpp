// `carve evaluate`: the search of tuning on a table of measurements.

#include "Evaluate/EvaluateCommand.h"

#include "Evaluate/EvaluationReport.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Flags.h"

#include "llvm/Support/raw_ostream.h"

using namespace carve;

namespace {

struct EvaluateOptions {
  std::vector<std::string> Files;
  std::string Arch = "sm_90";
  EvaluationLimits Limits;
  bool Json = false;
};

Flags evaluateFlags(EvaluateOptions &O) {
  Flags F("carve evaluate");
  F.form("[options] SWEEP.tsv", "what the search finds on a table of measurements; needs no GPU");
  F.arguments("SWEEP.tsv", O.Files, "the table");
  F.seconds("--budget", "SECONDS", O.Limits.BudgetS, "time for a program's tuning").Default =
      "as for carve tune";
  F.seconds("--run", "SECONDS", O.Limits.RunS, "time for one run of a program").Default =
      "the GPU time of its kernels";
  F.number("--effort", "0|1|2|3", O.Limits.Effort, 0, 3, "what is tried, as for carve tune");
  F.text("--arch", "ARCH", O.Arch, "the architecture that was measured");
  F.choice("--format", {"text", "json"}, O.Json, "how the result is printed");
  return F;
}

} // namespace

llvm::Error carve::runEvaluate(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  EvaluateOptions Options;
  if (llvm::Error E = evaluateFlags(Options).parse(Args))
    return E;
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
