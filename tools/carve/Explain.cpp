#include "Commands.h"
#include "Driver/Flags.h"
#include "Report/ExplainReport.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;

llvm::Error carve::runExplain(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  std::string File = "latest";
  Flags F("carve explain");
  F.text("--report", File);
  std::vector<std::string> Kernels, Rest;
  if (llvm::Error E = F.parse(Args, Kernels, Rest))
    return E;
  if (Kernels.size() > 1 || !Rest.empty())
    return usageError("carve explain: takes one kernel's name at most, not '" +
                      (Rest.empty() ? Kernels[1] : Rest.front()) + "' too");
  llvm::Expected<TuningReport> R = namedReport(File, Context.Env);
  if (!R)
    return R.takeError();
  std::string Kernel = Kernels.empty() ? "" : Kernels.front();
  std::string Text = printExplanation(*R, Kernel);
  if (Text.empty() && !Kernel.empty())
    return usageError(
        "carve explain: no kernel '" + Kernel + "' in the report, expected one of " +
        llvm::join(llvm::map_range(R->Kernels, [](const KernelReport &K) { return K.Kernel; }),
                   ", "));
  llvm::outs() << (Text.empty() ? "no variant was made of any kernel\n" : Text);
  return llvm::Error::success();
}
