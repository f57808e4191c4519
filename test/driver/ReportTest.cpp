// carve report of a file: its formats, and where it writes the text.
#include "DriverTier.h"

using namespace carve;

namespace {

class ReportTest : public DriverTierTest {
protected:
  ReportTest() {
    Env["CARVE_NVCC"] = path("none");
    write("work/r.json", R"({"carve-report": 1, "date": "2026-11-20T12:00:00Z",
      "workload": "./app", "device": "NVIDIA H200", "driver": "580.159", "nvcc-version": "13.0.88",
      "scope": "kernel", "domain": "preserve", "runs": 1, "runs-before-confirmation": 1,
      "reruns": [], "timing-wall-s": 0, "variants-compared": 0, "wall-s": 2, "plain-wall-s": 1,
      "variants-compiled": 0, "variants-timed": 0, "program": {"median": 1, "low": 1, "high": 1},
      "program-wall": {"median": 1, "low": 1, "high": 1}, "pairs": 0, "unstable-lines": 0,
      "unordered-lines": false, "processes": 1, "gpus": 1, "other-gpu-users": [],
      "note": "no kernel was launched", "units": [], "kernels": []})");
  }
};

} // namespace

TEST_F(ReportTest, reportOfAFile_everyFormat_isPrintedOrWritten) {
  const std::pair<const char *, const char *> Formats[] = {
      {"text", "./app on NVIDIA H200: not tuned: no kernel was launched\n"},
      {"json", "\"note\": \"no kernel was launched\""},
      {"html", "Not tuned: no kernel was launched"}};
  for (const auto &[Format, Part] : Formats) {
    Words Command = {"report", "--report=r.json", std::string("--format=") + Format};
    Ended Printed = carve(Command);
    EXPECT_EQ(Printed.Status, 0) << Printed.Stderr;
    EXPECT_NE(Printed.Stdout.find(Part), std::string::npos) << Printed.Stdout;
    Command.insert(Command.end(), {"-o", std::string("r.") + Format + ".out"});
    Ended Written = carve(Command);
    EXPECT_EQ(Written.Status, 0) << Written.Stderr;
    EXPECT_EQ(Written.Stdout + Written.Stderr, "");
    EXPECT_EQ(read(std::string("work/r.") + Format + ".out"), Printed.Stdout);
  }
}

TEST_F(ReportTest, fileThatCannotBeReadOrWritten_isNamed) {
  expectError({"report", "--report=none.json"}, "'none.json': No such file or directory");
  write("work/bad.json", "{\"carve-report\": 7}");
  expectError({"report", "--report=bad.json", "--format=html", "-o", "page.html"},
              "bad.json: report record of format 7, expected 1");
  EXPECT_FALSE(exists("work/page.html"));
  expectError({"report", "--report=r.json", "-o", "missing/page.html"},
              "'missing/page.html': No such file or directory");
  expectError({"report", "--report=latest"},
              "no tuning has been made with the store " + path("store"));
  expectError({"report", "--format=pdf"},
              "carve report: --format is 'pdf', expected text or json or html");
}
