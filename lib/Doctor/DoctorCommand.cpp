#include "Doctor/DoctorCommand.h"

#include "Doctor/DoctorReport.h"
#include "Doctor/MachineLook.h"
#include "Support/Error.h"
#include "Support/Flags.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace carve;

llvm::Error carve::runDoctor(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  unsigned Format = 0;
  Flags F("carve doctor");
  F.choice("--format", {"text", "json"}, Format);
  std::vector<std::string> Words, Rest;
  if (llvm::Error E = F.parse(Args, Words, Rest))
    return E;
  if (!Words.empty() || !Rest.empty())
    return usageError("carve doctor: unexpected '" + (Words.empty() ? Rest : Words).front() + "'");
  std::vector<std::string> Variables;
  for (char **Variable = environ; *Variable; ++Variable)
    Variables.push_back(*Variable);
  ProcessRunner Runner;
  std::vector<DoctorFinding> Findings = findingsOf(lookAtMachine(Context, Variables, Runner));
  if (Format == 1)
    llvm::outs() << llvm::formatv("{0:2}", doctorJson(Findings)) << "\n";
  else
    llvm::outs() << doctorText(Findings);
  if (hasFault(Findings))
    return llvm::make_error<Differs>();
  return llvm::Error::success();
}
