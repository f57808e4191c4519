#include "Export/ExportReport.h"

#include "llvm/Support/JSON.h"
#include "gtest/gtest.h"

using namespace carve;

namespace {

ExportOutcome sample(ExportForm As) {
  ExportOutcome O;
  O.As = As;
  O.NvccVersion = "13.0.88";
  ExportedKernel K;
  K.Kernel = "k(int)";
  K.Arch = "sm_90";
  K.Source = "src/k.cu";
  K.Line = 7;
  K.Decided.Cap = 40;
  K.Decided.FrontEndCap = 40;
  K.Written = "__maxnreg__(40)";
  K.Lost = {"frontend-cap 40: no attribute gives the front end a cap"};
  K.Gain.Decided = 0.8;
  K.Gain.Exported = 0.84;
  K.Code = {CodeMatch::SameRegisters, "40 registers, 0 spill bytes"};
  ExportedKernel Left;
  Left.Kernel = "made(int)";
  Left.Arch = "sm_90";
  Left.Source = "src/k.cu";
  Left.Decided.Cap = 32;
  Left.Reason = "a macro\nmakes it";
  O.Kernels = {K, Left};
  O.Notes = {"a note"};
  return O;
}

constexpr char Summary[] =
    "carve export --as=patch: 1 of 2 tuned kernel(s), for nvcc 13.0.88\n"
    "k(int) on sm_90, src/k.cu:7\n"
    "    decided  cap 40, frontend-cap 40\n"
    "    written  __maxnreg__(40)\n"
    "    code     same registers, other code: 40 registers, 0 spill bytes\n"
    "    loses    5.0 % of the time, by variants timed: 1.190 instead of 1.250 times as fast\n"
    "             frontend-cap 40: no attribute gives the front end a cap\n"
    "made(int) on sm_90, src/k.cu\n"
    "    decided  cap 32\n"
    "    left     a macro makes it\n"
    "note: a note\n";

} // namespace

TEST(ExportReport, summary_precedesThePatch) {
  ExportOutcome O = sample(ExportForm::Patch);
  O.Patch = "diff --git a/k b/k\n";
  EXPECT_EQ(printExportSummary(O), Summary);
  std::string Text = printExportText(O);
  EXPECT_EQ(Text.find("# carve export --as=patch: 1 of 2"), 0u);
  EXPECT_NE(Text.find("# note: a note\ndiff --git a/k b/k\n"), std::string::npos) << Text;
}

TEST(ExportReport, flags_arePrintedForBuildSystems) {
  ExportOutcome O = sample(ExportForm::Flags);
  O.Flags = {{"src/k.cu", {"-maxrregcount=40", "-Xptxas=-dlcm=cg"}, {}}};
  EXPECT_NE(printExportText(O).find("\nsrc/k.cu: -maxrregcount=40 -Xptxas=-dlcm=cg\n"),
            std::string::npos);
  EXPECT_NE(printExportMake(O).find("\nsrc/k.o: NVCCFLAGS += -maxrregcount=40 -Xptxas=-dlcm=cg\n"),
            std::string::npos);
  EXPECT_NE(printExportCMake(O).find("\nset_property(SOURCE \"src/k.cu\" APPEND PROPERTY "
                                     "COMPILE_OPTIONS \"-maxrregcount=40;-Xptxas=-dlcm=cg\")\n"),
            std::string::npos);
}

TEST(ExportReport, json_hasKernelsAndReasons) {
  llvm::Expected<llvm::json::Value> V =
      llvm::json::parse(printExportJson(sample(ExportForm::MaxNReg)));
  ASSERT_TRUE(bool(V)) << llvm::toString(V.takeError());
  const llvm::json::Object &O = *V->getAsObject();
  EXPECT_EQ(O.getInteger("carve-export"), 1);
  EXPECT_EQ(O.getString("as"), "maxnreg");
  EXPECT_EQ(O.getInteger("exported"), 1);
  const llvm::json::Object &K = *(*O.getArray("kernels"))[0].getAsObject();
  EXPECT_EQ(K.getString("code"), "same registers, other code");
  EXPECT_EQ(K.getNumber("ratio-exported"), 0.84);
  EXPECT_TRUE((*O.getArray("kernels"))[1].getAsObject()->get("code")->getAsNull());
}
