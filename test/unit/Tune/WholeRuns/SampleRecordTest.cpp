#include "Tune/WholeRuns/SampleRecord.h"
#include "unit/Tune/TuneTesting.h"

using namespace carve;

static SampleRecord parsed(const std::string &Text) {
  return valueOf(SampleRecord::parse(Text, "s"));
}

static std::string failure(const std::string &Text) {
  return messageOf(SampleRecord::parse(Text, "s"));
}

TEST(SampleRecord, record_printedAndParsed_isTheSame) {
  SampleRecord R;
  ProbeRecord Trace;
  ASSERT_EQ(messageOf(readProbeFile(ProbeHead + kernelLine("k", 5) + "end\n", "p", Trace)), "");
  R.setTrace(Trace);
  R.add("k", "default", 100);
  R.add("k", "r40", 90.4);
  R.add("k", "default", 101);
  R.addProgram(7, 0.25);
  std::string Text = R.print();
  EXPECT_NE(Text.find("probe\tdevice\t0\tNVIDIA H200"), std::string::npos) << Text;
  EXPECT_NE(Text.find("sample\tk\tdefault\t100\nsample\tk\tdefault\t101\nsample\tk\tr40\t90\n"
                      "program\t7\t0.250000\n"),
            std::string::npos)
      << Text;
  SampleRecord Again = parsed(Text);
  EXPECT_EQ(Again.print(), Text);
  EXPECT_EQ(valueOf(Again.trace("s")).totalNs(), 5u);
}

TEST(SampleRecord, timingRun_printedAndParsed_isTheSame) {
  SampleRecord R;
  EXPECT_EQ(R.timingRuns(), 0u);
  TuningJob Job = sampleJob();
  Job.Kernels = {sampleKernel("j", 0.5), sampleKernel("k", 0.5)};
  JobBuild Built = defaultsOf(Job);
  for (unsigned Cap : {32, 40})
    addVariant(Built.Kernels[1], Cap);
  InRunRecord Run;
  LaunchPlace Place{"k", {}, 3};
  Run.Verified = {{Place, "r32", Verdict::Differs, "8 words"}};
  Run.Timed = {{Place, true, 4, "r32", 1500, 1200}};
  Run.Rotated = {{"j", {}, 7, "control", 900}};
  Run.Faults = {{"k", "r40", "hung"}};
  R.addTiming(Run);
  R.add("k", "default", 100);
  SampleRecord Again = parsed(R.print());
  EXPECT_EQ(Again.timingRuns(), 1u);
  EXPECT_EQ(Again.print(), R.print());
  InRunRecord Read = valueOf(Again.timing(0, Job, Built, "s"));
  ASSERT_EQ(Read.Verified.size(), 1u);
  EXPECT_EQ(Read.Verified[0].Detail, "8 words");
  EXPECT_TRUE(Read.Timed.at(0).Confirming);
  EXPECT_EQ(Read.Timed[0].WarmNs, 1200);
  EXPECT_EQ(Read.Rotated.at(0).Ns, 900);
  EXPECT_EQ(Read.Faults.at(0).Why, "hung");
  EXPECT_NE(messageOf(parsed("carve-samples\t1\ntiming\ttimed\tk\n").timing(0, Job, Built, "s")),
            "");
}

/// Another search has other variants, in another order. Records name variants, so they still fit.
TEST(SampleRecord, timingRuns_otherVariantsInTheJob_areFoundByName) {
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job); // _Z2avPf has r32 and r64.
  const std::string Line = "timing\trotated\t_Z2avPf\t1,1,1\t32,1,1\t0\t1,1,1\t0\t";
  const std::string Text = "carve-samples\t1\n" + Line + "r64\t700\n" + "timing-run\t2\n" + Line +
                           "r64\t500\n" + Line + "r40-f255\t400\n";
  SampleRecord R = parsed(Text);
  ASSERT_EQ(R.timingRuns(), 2u);
  using Times = std::vector<std::pair<std::string, double>>;
  auto Variant = [&](size_t Run) {
    Times Seen;
    for (const RotatedSample &S : valueOf(R.timing(Run, Job, Built, "s")).Rotated)
      Seen.emplace_back(S.Variant, S.Ns);
    return Seen;
  };
  EXPECT_EQ(Variant(0), (Times{{"r64", 700}}));
  EXPECT_EQ(Variant(1), (Times{{"r64", 500}}));
  addVariant(Built.Kernels[0], 40);
  Built.Kernels[0].Variants[4].Setting.FrontEndCap = 255;
  EXPECT_EQ(Variant(1), (Times{{"r64", 500}, {"r40-f255", 400}}));
  Built.Kernels[0].Variants[3].InModule = false;
  EXPECT_EQ(Variant(1), (Times{{"r40-f255", 400}}));
  EXPECT_EQ(failure("carve-samples\t1\ntiming-run\t2\n"),
            "s:2: expected a probe, timing, sample or program line, not 'timing-run\t2'");
}

TEST(SampleRecord, parse_badLine_namesIt) {
  EXPECT_EQ(failure(""), "s: is empty, expected recorded samples");
  EXPECT_EQ(failure("carve-samples 1\n"),
            "s:1: expected 'carve-samples', a tab and '1', not 'carve-samples 1'");
  EXPECT_EQ(failure("hello\n"), "s:1: expected 'carve-samples', a tab and '1', not 'hello'");
  EXPECT_EQ(failure("\x1b[31m" + std::string(100, 'x') + "\n"),
            "s:1: expected 'carve-samples', a tab and '1', not '.[31m" + std::string(55, 'x') +
                "...'");
  EXPECT_EQ(failure("carve-samples\t2\n"),
            "s:1: expected 'carve-samples', a tab and '1', not 'carve-samples\t2'");
  for (const char *Bad : {"sample\tk\tr40", "sample\tk\tr40\tfast", "sample\tk\tr40\t1\t2",
                          "program\t1", "program\t1\tx", "other", ""})
    EXPECT_EQ(failure(std::string("carve-samples\t1\n") + Bad + "\n"),
              std::string("s:2: expected a probe, timing, sample or program line, not '") + Bad +
                  "'");
}

TEST(SampleRecord, record_damaged_failsWhenItIsReadAndNamesTheLineOfTheFile) {
  SampleRecord R = parsed("carve-samples\t1\nprobe\tcarve-probe\t1\t0\t-\nsample\tk\tr40\t1\n"
                          "probe\tlaunch\ntiming-run\t1\ntiming\tnothing\n");
  EXPECT_EQ(messageOf(R.trace("s")), "s:4: unknown record 'launch'");
  TuningJob Job = sampleJob();
  EXPECT_EQ(messageOf(R.timing(0, Job, sampleBuild(Job), "s")), "s:6: unknown record 'nothing'");
}

TEST(SampleRecord, run_severalSamples_takesThemInTurn) {
  SampleRecord R = parsed("carve-samples\t1\nsample\ta\tdefault\t10\nsample\ta\tdefault\t11\n"
                          "sample\ta\tr40\t8\nsample\ta\tuntouched\t9\nsample\tb\tdefault\t5\n"
                          "sample\tb\tuntouched\t6\nprogram\t100\t1.5\nprogram\t200\t2.5\n");
  std::vector<SubjectSpace> Subjects = {{"a", 3}, {"b", 2}};
  std::vector<std::vector<std::string>> Names = {{"default", "control", "r40"},
                                                 {"default", "control"}};
  RunSample First = valueOf(R.run(Subjects, Names, {0, 0}));
  EXPECT_EQ(First.SubjectNs, (std::vector<double>{10, 5}));
  EXPECT_EQ(First.ProgramNs, 115);
  EXPECT_EQ(First.WallS, 1.5);
  RunSample Second = valueOf(R.run(Subjects, Names, {0, 0}));
  EXPECT_EQ(Second.SubjectNs, (std::vector<double>{11, 5}));
  EXPECT_EQ(Second.WallS, 2.5);
  EXPECT_EQ(valueOf(R.run(Subjects, Names, {2, 0})).SubjectNs[0], 8);
  EXPECT_EQ(valueOf(R.run(Subjects, Names, {})).SubjectNs, (std::vector<double>{9, 6}));
  EXPECT_EQ(messageOf(R.run(Subjects, Names, {1, 0})),
            "the recorded samples lack variant control of a");
}
