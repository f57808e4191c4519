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

llvm::Error carve::runReport(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  enum : unsigned { TextFormat, JsonFormat, HtmlFormat };
  unsigned Format = TextFormat;
  std::string Report = "latest", Output;
  Flags F("carve report");
  F.choice("--format", {"text", "json", "html"}, Format);
  F.text("--report", Report);
  F.text("-o", Output);
  std::vector<std::string> Positional, Rest;
  if (llvm::Error E = F.parse(Args, Positional, Rest))
    return E;
  if (!Positional.empty() || !Rest.empty())
    return usageError("carve report: unexpected '" +
                      (Positional.empty() ? Rest : Positional).front() +
                      "', expected only options");
  if (Format == HtmlFormat && Output.empty() && llvm::sys::Process::StandardOutIsDisplayed())
    return usageError("carve report: --format=html: standard output is a terminal, expected "
                      "-o FILE");
  llvm::Expected<TuningReport> R = namedReport(Report, Context.Env);
  if (!R)
    return R.takeError();
  unsigned Columns = Output.empty() ? llvm::sys::Process::StandardOutColumns() : 0;
  std::string Text = Format == HtmlFormat   ? printHtmlReport(*R)
                     : Format == JsonFormat ? printJsonReport(*R)
                                            : printTextReport(*R, Columns ? Columns : 100);
  if (!Output.empty())
    return writeFileAtomically(Output, Text);
  llvm::outs() << Text;
  return llvm::Error::success();
}
