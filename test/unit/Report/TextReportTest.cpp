#include "Report/TextReport.h"

#include "Golden.h"
#include "ReportTesting.h"

#include "gtest/gtest.h"

using namespace carve;

TEST(TextReport, tunedProgram_matchesGolden) {
  expectGolden(printTextReport(sampleReport()), "report-tuned.txt");
}

TEST(TextReport, narrowTerminal_matchesGolden) {
  std::string Text = printTextReport(sampleReport(), 80);
  expectGolden(Text, "report-narrow.txt");
}

TEST(TextReport, wideTerminal_showsWholeNames) {
  std::string Text = printTextReport(sampleReport(), 200);
  EXPECT_NE(Text.find("CalcFBHourglassForce(double*, double const*, int)  "), std::string::npos);
}

TEST(TextReport, nothingGains_matchesGolden) {
  TuningReport R = sampleReport();
  R.Kernels.erase(R.Kernels.begin());
  R.UnstableLines = 2;
  expectGolden(printTextReport(R), "report-nothing-gains.txt");
}

TEST(TextReport, notTuned_isOneLineWithTheReason) {
  TuningReport R;
  R.Workload = "./app";
  R.Device = "NVIDIA H200";
  R.Note = "the program launched no kernel";
  EXPECT_EQ(printTextReport(R),
            "./app on NVIDIA H200: not tuned: the program launched no kernel\n");
}

TEST(TextReport, severalProcessesAndOtherUsers_areNamed) {
  TuningReport R = sampleReport();
  EXPECT_EQ(printTextReport(R).find("another process"), std::string::npos);
  R.Processes = 4;
  R.Gpus = 2;
  R.Unordered = true;
  R.OtherUsers = {{123, "python", 38}};
  std::string Text = printTextReport(R);
  for (const char *Part :
       {"on 2 x NVIDIA H200 in 4 processes: ",
        "the order of the output's lines varies from run to run",
        "another process uses this GPU: pid 123 python (38 % busy): times are noisier\n"})
    EXPECT_NE(Text.find(Part), std::string::npos) << Text;
}

TEST(TextReport, severalGpusAtOnce_areNamedWithTheirKernels) {
  TuningReport R = sampleReport();
  EXPECT_EQ(printTextReport(R).find("GPU 0"), std::string::npos);
  R.TimedOn = {"GPU 0", "GPU 2"};
  R.LeftGpus = {{"GPU 1", "it is busy: pid 3"}};
  R.Kernels[0].InRun.Mode = "replay";
  R.Kernels[0].InRun.Gpu = "GPU 2";
  std::string Text = printTextReport(R);
  for (const char *Part : {"kernels timed at once on GPU 0, GPU 2; GPU 0 confirmed\n",
                           "GPU 1 was left out: it is busy: pid 3\n", " on GPU 2"})
    EXPECT_NE(Text.find(Part), std::string::npos) << Text;
}

TEST(TextReport, programWithGraphs_saysHowMuchTimeTheyHave) {
  TuningReport R = sampleReport();
  EXPECT_EQ(printTextReport(R).find("graphs"), std::string::npos);
  R.GraphShare = 0.625;
  EXPECT_NE(printTextReport(R).find("launched from graphs: 62.5 % of the GPU time\n"),
            std::string::npos);
}

TEST(TextReport, report_saysHowOutputsWereCompared) {
  const std::pair<const char *, const char *> Words[] = {
      {"bitwise", "output equal bit by bit"},
      {"within-spread", "output within the spread of the default's own runs"},
      {"output", "the program's output equal"}};
  for (const auto &[Id, Text] : Words) {
    TuningReport R = sampleReport();
    R.Kernels[0].InRun.Verified = Id;
    EXPECT_NE(printTextReport(R).find(Text), std::string::npos);
  }
}

TEST(TextReport, repeatedRuns_areListed) {
  TuningReport R = sampleReport();
  R.Reruns = {"variant 3 of k ended the timing run: hung"};
  EXPECT_NE(printTextReport(R).find("\ntimed again: variant 3 of k ended the timing run: hung\n"),
            std::string::npos);
}

TEST(TextReport, everyReason_hasWords) {
  for (const char *Id : {"budget", "in-no-unit", "relocatable-device-code", "ambiguous-name",
                         "setmaxnreg", "unknown-stack", "external-call", "shared-callee",
                         "no-device-link", "changed-inputs", "device-link-failed"}) {
    TuningReport R;
    R.Kernels = {reportedKernel("k()", 1)};
    R.Kernels[0].Reason = parseStayReason(Id);
    std::string Text = printTextReport(R);
    EXPECT_EQ(Text.find("    " + std::string(Id) + "\n"), std::string::npos) << Text;
    EXPECT_NE(Text.find("    " + R.Kernels[0].Reason.words() + "\n"), std::string::npos) << Text;
  }
}

TEST(TextReport, confirmation_everyEnd_saysPairsAndWhy) {
  const std::pair<const char *, const char *> Words[] = {
      {"decided", "confirmation: 3 pairs of runs, the times of each candidate decided\n"},
      {"sum", "3 pairs of runs, the program gained what was predicted"},
      {"pair-limit", "3 pairs of runs, some candidates were undecided"},
      {"run-limit", "(--max-runs)"},
      {"budget", "(--budget)"},
      {"fault", "a run failed"}};
  TuningReport R = sampleReport();
  R.Pairs = R.PairsMade = 3;
  for (const auto &[Id, Text] : Words) {
    R.Ended = Id;
    EXPECT_NE(printTextReport(R).find(Text), std::string::npos) << Id;
  }
  R.Ended = "";
  EXPECT_EQ(printTextReport(R).find("pairs of runs"), std::string::npos);
}

TEST(TextReport, furtherEntries_haveTheShareThatTheyHeldFor) {
  TuningReport R = sampleReport();
  KernelReport &K = R.Kernels[0];
  K.Entries = {{"parameter 2 = 8192", "known", std::nullopt, GuardHold{932, 632, 0.75}},
               {"parameter 2 = 512", "known", std::nullopt, GuardHold{932, 300, 0.25}}};
  K.Earlier = {{"parameter 2 = 4096", "known", GuardHold{932, 932, 1}, GuardHold{932, 0, 0}},
               {"threads <= 256", "r168", std::nullopt, GuardHold{932, 466, 0.5}}};
  std::string Text = printTextReport(R);
  for (
      const char *Line :
      {"    a further entry, for launches with parameter 2 = 8192: its guard held at 632 of 932 "
       "launches, 75 % of its GPU time\n",
       "    a further entry, for launches with parameter 2 = 512: its guard held at 300 of 932 "
       "launches, 25 % of its GPU time\n",
       "    warning: the further entry for launches with parameter 2 = 4096 was tuned for 100 % of "
       "the kernel's GPU time and has 0 % now: ",
       "    before, a further entry for launches with threads <= 256: its guard held at 466 of 932 "
       "launches, 50 % of its GPU time\n"})
    EXPECT_NE(Text.find(Line), std::string::npos) << Text;
}
