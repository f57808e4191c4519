#include "Doctor/DoctorCommand.h"

#include "Doctor/DoctorReport.h"
#include "Doctor/MachineLook.h"
#include "Support/Flags.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace carve;

static Flags doctorFlags(bool &Json) {
  Flags F("carve doctor");
  F.form("[options]", "what works on this machine, and how to mend what does not");
  F.choice("--format", {"text", "json"}, Json, "how the findings are printed");
  return F;
}

llvm::Error carve::runDoctor(llvm::ArrayRef<std::string> Args, const CommandContext &Context) {
  bool Json = false;
  if (llvm::Error E = doctorFlags(Json).parse(Args))
    return E;
  std::vector<std::string> Variables;
  for (char **Variable = environ; *Variable; ++Variable)
    Variables.push_back(*Variable);
  ProcessRunner Runner;
  std::vector<DoctorFinding> Findings = findingsOf(lookAtMachine(Context, Variables, Runner));
  if (Json)
    llvm::outs() << llvm::formatv("{0:2}", doctorJson(Findings)) << "\n";
  else
    llvm::outs() << doctorText(Findings);
  if (hasFault(Findings))
    return llvm::make_error<Differs>();
  return llvm::Error::success();
}
