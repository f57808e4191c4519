#include "Doctor/DoctorReport.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace carve;

TEST(DoctorReport, text_ofEachKind_isOneLineWithTheAdvice) {
  std::vector<DoctorFinding> Findings = {
      {FindingKind::Ok, "nvcc", "/cuda/bin/nvcc, 13.0.88", ""},
      {FindingKind::Note, "GPU", "there is none", "with one, kernels are timed"},
      {FindingKind::Fault, "host compiler", "first line\n  second line\n", "install g++"}};
  EXPECT_EQ(doctorText(Findings), "ok    nvcc: /cuda/bin/nvcc, 13.0.88\n"
                                  "note  GPU: there is none; with one, kernels are timed\n"
                                  "FAULT host compiler: first line second line; install g++\n");
}

TEST(DoctorReport, json_ofFindings_saysWhetherAllWorks) {
  std::vector<DoctorFinding> Findings = {{FindingKind::Note, "GPU", "there is none", ""}};
  EXPECT_FALSE(hasFault(Findings));
  EXPECT_EQ(
      llvm::formatv("{0}", doctorJson(Findings)).str(),
      R"({"findings":[{"fact":"there is none","kind":"note","subject":"GPU"}],"works":true})");
  Findings.push_back({FindingKind::Fault, "nvcc", "\xff", "install it"});
  EXPECT_TRUE(hasFault(Findings));
  std::string Json = llvm::formatv("{0}", doctorJson(Findings)).str();
  EXPECT_NE(Json.find(R"("works":false)"), std::string::npos) << Json;
  EXPECT_NE(Json.find(R"("advice":"install it")"), std::string::npos) << Json;
}
