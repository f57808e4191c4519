// `carve evaluate`: the search of tuning on a table of measurements.

#include "Evaluate/EvaluateCommand.h"

#include "Evaluate/EvaluationReport.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;

namespace {

struct EvaluateOptions {
  std::string File;
  std::string Arch = "sm_90";
  /// All knobs are tried, since the table has them, but with no more than the usual budget.
  SearchLimits Limits{/*Effort=*/3, /*MaxTimed=*/12};
  bool Json = false;
};

/// Reads \p Value, the value of \p Flag, as a number from \p Least to \p Most.
llvm::Error readNumber(llvm::StringRef Flag, llvm::StringRef Value, unsigned Least, unsigned Most,
                       unsigned &To) {
  if (llvm::to_integer(Value, To, 10) && To >= Least && To <= Most)
    return llvm::Error::success();
  return usageError(Flag + Value + ": expected a number from " + llvm::Twine(Least) + " to " +
                    llvm::Twine(Most));
}

/// Reads one word of the command line.
llvm::Error readWord(llvm::StringRef Word, EvaluateOptions &To) {
  constexpr unsigned MostRows = 10000;
  llvm::StringRef Value = Word;
  if (Value.consume_front("--budget="))
    return readNumber("--budget=", Value, 1, MostRows, To.Limits.MaxTimed);
  if (Value.consume_front("--effort="))
    return readNumber("--effort=", Value, 0, 3, To.Limits.Effort);
  if (Value.consume_front("--arch=")) {
    To.Arch = Value.str();
    return llvm::Error::success();
  }
  if (Value.consume_front("--format=")) {
    if (Value != "text" && Value != "json")
      return usageError("--format=" + Value + ": expected text or json");
    To.Json = Value == "json";
    return llvm::Error::success();
  }
  if (Word.starts_with("-") || !To.File.empty())
    return usageError("evaluate: unexpected '" + Word +
                      "', expected SWEEP.tsv [--budget=N] [--effort=0..3] [--arch=sm_90] "
                      "[--format=text|json]");
  To.File = Word.str();
  return llvm::Error::success();
}

} // namespace

llvm::Error carve::runEvaluate(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  EvaluateOptions Options;
  for (const std::string &Word : Args)
    if (llvm::Error E = readWord(Word, Options))
      return E;
  if (Options.File.empty())
    return usageError("evaluate: no table, expected SWEEP.tsv");
  llvm::Expected<DeviceModel> Device = loadDeviceModel(Context.Install.DevicesDir, Options.Arch);
  if (!Device)
    return Device.takeError();
  llvm::Expected<std::string> Text = readFileOrPipe(Options.File, FileLimit::Record);
  if (!Text)
    return Text.takeError();
  llvm::Expected<std::vector<SweepRow>> Rows = parseSweepTable(*Text, Options.File);
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
