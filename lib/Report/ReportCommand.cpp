#include "Report/ReportCommand.h"

#include "Report/HtmlReport.h"
#include "Report/JsonReport.h"
#include "Report/NamedReport.h"
#include "Report/TextReport.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/Flags.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;

namespace {

enum class ReportFormat { Text, Json, Html };

struct ReportOptions {
  ReportFormat Format = ReportFormat::Text;
  std::string Report = "latest", Output;
};

Flags reportFlags(ReportOptions &O) {
  Flags F("carve report");
  F.form("[options]", "print the last tuning's result again, or as a page with plots");
  F.choice("--format", {"text", "json", "html"}, O.Format, "how it is printed; html is one page");
  F.text("--report", "FILE|latest", O.Report, "print this report, a JSON file");
  F.text("-o", "FILE", O.Output, "write to this file, completely or not at all");
  return F;
}

} // namespace

llvm::Error carve::runReport(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  ReportOptions O;
  if (llvm::Error E = reportFlags(O).parse(Args))
    return E;
  if (O.Format == ReportFormat::Html && O.Output.empty() &&
      llvm::sys::Process::StandardOutIsDisplayed())
    return usageError("carve report: --format=html: standard output is a terminal, expected "
                      "-o FILE");
  llvm::Expected<TuningReport> R = namedReport(O.Report, Context.Env);
  if (!R)
    return R.takeError();
  unsigned Columns = O.Output.empty() ? llvm::sys::Process::StandardOutColumns() : 0;
  std::string Text = O.Format == ReportFormat::Html ? printHtmlReport(*R)
                     : O.Format == ReportFormat::Json
                         ? printJsonReport(*R)
                         : printTextReport(*R, Columns ? Columns : 100);
  if (!O.Output.empty())
    return writeFileAtomically(O.Output, Text);
  llvm::outs() << Text;
  return llvm::Error::success();
}
