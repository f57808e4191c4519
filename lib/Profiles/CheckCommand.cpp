#include "Profiles/CheckCommand.h"

#include "Export/Source/KernelNames.h"
#include "Profiles/CheckDocuments.h"
#include "Profiles/CheckReport.h"
#include "Report/JsonReport.h"
#include "Store/ProfileReader.h"
#include "Support/Clock.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Flags.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace carve;

/// Reads a profile, or a tuning's report as JSON.
static llvm::Expected<std::vector<CheckedKernel>> readKernels(const std::string &Path) {
  llvm::Expected<std::string> Text = readFileOrPipe(Path, FileLimit::Record);
  if (!Text)
    return Text.takeError();
  if (llvm::StringRef(*Text).ltrim().starts_with("{")) {
    llvm::Expected<TuningReport> R = parseJsonReport(*Text, Path);
    return R ? checkedKernels(*R) : llvm::Expected<std::vector<CheckedKernel>>(R.takeError());
  }
  llvm::Expected<Profile> P = parseProfile(*Text, Path);
  return P ? checkedKernels(*P) : llvm::Expected<std::vector<CheckedKernel>>(P.takeError());
}

/// Reads `off`, or a number of \p Unit that is not negative. An empty \p Text leaves \p Out as it
/// is.
static llvm::Error readTolerance(llvm::StringRef Name, const std::string &Text,
                                 llvm::StringRef Unit, std::optional<double> &Out) {
  if (Text.empty())
    return llvm::Error::success();
  double Value = 0;
  if (Text == "off") {
    Out.reset();
    return llvm::Error::success();
  }
  llvm::StringRef Digits = Text;
  if (Unit == "percent")
    Digits.consume_back("%");
  bool Whole = Unit != "percent";
  if (Digits.getAsDouble(Value) || !(Value >= 0) || Value > 1e9 ||
      (Whole && Value != std::floor(Value)))
    return usageError("carve check: " + Name + " is '" + Text + "', expected off or a " +
                      (Whole ? "whole " : "") + "number of " + Unit + " from 0");
  Out = Value;
  return llvm::Error::success();
}

namespace {

struct CheckOptions {
  CheckTolerances Allowed;
  unsigned Format = 0;
  bool Quiet = false;
  std::string Output, Before, After;
};

} // namespace

namespace {

/// The limits as they are given; empty: the default.
struct ToleranceWords {
  std::string Regs, Spill, Occupancy, Time;
};

Flags checkFlags(CheckOptions &O, ToleranceWords &W, std::vector<std::string> &Paths) {
  const CheckTolerances &T = O.Allowed;
  auto Percent = [](std::optional<double> Share) {
    return Share ? llvm::formatv("{0}", std::lround(*Share * 100)).str() : "off";
  };
  Flags F("carve check");
  F.form("[options] BASE NEW",
         "whether kernels became worse from one profile or report to another");
  F.arguments("BASE NEW", Paths, "profiles, or reports as JSON");
  F.text("--max-spill-increase", "BYTES|off", W.Spill, "how much more a thread may spill").Default =
      T.SpillIncrease ? llvm::utostr(*T.SpillIncrease) : "off";
  F.text("--max-regs-increase", "N|off", W.Regs, "how many more registers a thread may have")
      .Default = T.RegsIncrease ? llvm::utostr(*T.RegsIncrease) : "off";
  F.text("--max-occupancy-loss", "PERCENT|off", W.Occupancy,
         "how many percent of the SM's warps may no longer be resident")
      .Default = Percent(T.OccupancyLoss);
  F.text("--max-time-increase", "PERCENT|off", W.Time,
         "how much longer a launch may take, beyond the intervals of both")
      .Default = Percent(T.TimeIncrease);
  F.flag("--across", O.Allowed.Across,
         "judge across architectures, and times across devices, toolkits and launch shapes");
  F.flag("--strict", O.Allowed.Strict, "excuse nothing, even if the launch became faster");
  F.choice("--format", {"text", "json", "junit", "sarif"}, O.Format,
           "how the result is printed; junit and sarif are for CI servers");
  F.text("-o", "FILE", O.Output, "write to this file");
  F.flag("--quiet", O.Quiet, "print nothing: the status tells the result");
  return F;
}

} // namespace

static llvm::Error readTolerances(CheckTolerances &T, const ToleranceWords &W) {
  std::optional<double> Values[] = {std::nullopt, T.SpillIncrease, *T.OccupancyLoss * 100,
                                    *T.TimeIncrease * 100};
  if (llvm::Error E = readTolerance("--max-regs-increase", W.Regs, "registers", Values[0]))
    return E;
  if (llvm::Error E = readTolerance("--max-spill-increase", W.Spill, "bytes", Values[1]))
    return E;
  if (llvm::Error E = readTolerance("--max-occupancy-loss", W.Occupancy, "percent", Values[2]))
    return E;
  if (llvm::Error E = readTolerance("--max-time-increase", W.Time, "percent", Values[3]))
    return E;
  auto Whole = [](const std::optional<double> &V) {
    return V ? std::optional<unsigned>(static_cast<unsigned>(*V)) : std::nullopt;
  };
  auto Share = [](const std::optional<double> &V) {
    return V ? std::optional<double>(*V / 100) : std::nullopt;
  };
  T.RegsIncrease = Whole(Values[0]);
  T.SpillIncrease = Whole(Values[1]);
  T.OccupancyLoss = Share(Values[2]);
  T.TimeIncrease = Share(Values[3]);
  return llvm::Error::success();
}

static llvm::Expected<CheckOptions> readOptions(llvm::ArrayRef<std::string> Args) {
  CheckOptions O;
  ToleranceWords Limits;
  std::vector<std::string> Paths;
  if (llvm::Error E = checkFlags(O, Limits, Paths).parse(Args))
    return E;
  if (Paths.size() != 2)
    return usageError("carve check: " + llvm::Twine(Paths.size()) +
                      " file(s), expected: carve check BASE NEW");
  O.Before = Paths[0];
  O.After = Paths[1];
  if (llvm::Error E = readTolerances(O.Allowed, Limits))
    return E;
  return O;
}

/// Finds the definitions of worse kernels in their sources, whose paths are relative to the working
/// directory.
static void findLines(CheckOutcome &Outcome) {
  for (KernelCheck &K : Outcome.Kernels)
    for (CheckedKernel *Side : {&K.Before, &K.After}) {
      if (!K.regressed() || Side->Source.empty())
        continue;
      llvm::Expected<std::string> Text = readFile(Side->Source, FileLimit::Record);
      if (Text)
        Side->Line = definitionLine(*Text, Side->Kernel);
      else
        // The sources are not there if the check runs on another machine.
        llvm::consumeError(Text.takeError());
    }
}

static llvm::Error check(llvm::ArrayRef<std::string> Args, const std::string &Version) {
  llvm::Expected<CheckOptions> O = readOptions(Args);
  if (!O)
    return O.takeError();
  llvm::Expected<std::vector<CheckedKernel>> Before = readKernels(O->Before);
  if (!Before)
    return Before.takeError();
  llvm::Expected<std::vector<CheckedKernel>> After = readKernels(O->After);
  if (!After)
    return After.takeError();
  CheckOutcome Outcome = checkKernels(*Before, *After, O->Allowed);
  if (Outcome.Kernels.empty())
    return usageError("carve check: " + O->Before + " (" + llvm::Twine(Before->size()) +
                      " kernels) and " + O->After + " (" + llvm::Twine(After->size()) +
                      ") have no kernel in common: nothing was compared");
  findLines(Outcome);
  constexpr decltype(&printCheckText) Printers[] = {printCheckText, printCheckJson, printCheckJUnit,
                                                    printCheckSarif};
  CheckDocument Of{O->Before, O->After, utcNow(), Version};
  std::string Text = Printers[O->Format](Outcome, Of);
  if (!O->Output.empty())
    if (llvm::Error E = writeFileAtomically(O->Output, Text))
      return E;
  if (O->Output.empty() && !O->Quiet)
    llvm::outs() << Text;
  // A file for a server is not readable for people, so the text is printed, too.
  if (!O->Output.empty() && O->Format && !O->Quiet)
    llvm::outs() << printCheckText(Outcome, Of);
  if (Outcome.count(CheckVerdict::Regressed))
    return llvm::make_error<Differs>();
  return llvm::Error::success();
}

llvm::Error carve::runCheck(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  return llvm::handleErrors(
      check(Args, Context.Version),
      [](std::unique_ptr<Differs> E) -> llvm::Error { return llvm::Error(std::move(E)); },
      [](std::unique_ptr<HelpAsked> E) -> llvm::Error { return llvm::Error(std::move(E)); },
      [](const llvm::ErrorInfoBase &E) -> llvm::Error {
        return llvm::make_error<CannotCompare>(E.message());
      });
}
