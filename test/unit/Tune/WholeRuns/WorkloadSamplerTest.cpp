#include "Tune/WholeRuns/WorkloadSampler.h"
#include "Cubin/Cubin.h"
#include "Cubin/ExchangeNames.h"
#include "Support/Error.h"
#include "Tune/WholeRuns/SampleRecord.h"
#include "unit/Tune/TuneTesting.h"

using namespace carve;

namespace {

/// A job with one module, the program that loads it, and the output check.
class WorkloadSamplerTest : public testing::Test {
protected:
  WorkloadSamplerTest() : Images(llvm::cantFail(TempDir::create("carve-images"))) {
    Spec.Argv = {"./app"};
    Spec.TimeoutS = 9;
    // In the recorded image, `x_Z2avPf` is used as a clone of `_Z2avPf`.
    Built.Modules[0].Cubin = recordedPtx("kernels.sm_90.cuda-13.0.88.cubin");
    Built.Kernels[0].Variants[2].CloneName = "x_Z2avPf";
    Runner.Program = [this](const ProbedProgram::Run &R, CommandResult &Result) {
      return behave(R, Result);
    };
  }

  std::string behave(const ProbedProgram::Run &R, CommandResult &Result) {
    bool Swapped = !R.Images.empty();
    Result.Stdout = Swapped ? SwappedOutput : DefaultOutput;
    Result.ExitStatus = Swapped ? SwappedStatus : 0;
    Result.TimedOut = Swapped && TimesOut;
    Result.Interrupted = Interrupted;
    return ProbeHead + kernelLine("_Z2avPf", Swapped ? 500 : 600) + kernelLine("init", 100) +
           kernelLine("other", 300) + "span\t1000\t2500\t1100\n" + (Swapped ? Extra : "") + "end\n";
  }

  WorkloadSampler sampler(TuningScope Scope = TuningScope::Kernel) {
    return WorkloadSampler(Job, Built, Scope, subjectsOf(Job, Built, Scope), Spec, Probe, Runner,
                           Check, Images.path());
  }

  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  WorkloadSpec Spec;
  ProbeSetup Probe{"probe.so", ""};
  ProbedProgram Runner;
  OutputCheck Check{[this](const probe::TimeStretch &Stretch) {
    return runWorkload(Spec, Probe, {}, Runner, Stretch, nullptr);
  }};
  TempDir Images;
  std::string DefaultOutput = "sum 1\n", SwappedOutput = "sum 1\n", Extra;
  int SwappedStatus = 0, Interrupted = 0;
  bool TimesOut = false;
};

} // namespace

TEST_F(WorkloadSamplerTest, subjects_byScope_areKernelsOrFiles) {
  std::vector<SubjectSpace> Kernels = subjectsOf(Job, Built, TuningScope::Kernel);
  ASSERT_EQ(Kernels.size(), 2u);
  EXPECT_EQ(Kernels[0].Name, "_Z2avPf");
  EXPECT_EQ(Kernels[0].Variants, 4u);
  EXPECT_EQ(Kernels[1].Variants, 2u);
  auto Names = variantNames(Built, TuningScope::Kernel);
  EXPECT_EQ(Names[0], (std::vector<std::string>{"default", "control", "r32", "r64"}));

  Built.Modules[0].FileVariants = {{}, {}, {{48}, "", {}, "", "image"}};
  std::vector<SubjectSpace> Files = subjectsOf(Job, Built, TuningScope::File);
  ASSERT_EQ(Files.size(), 1u);
  EXPECT_EQ(Files[0].Name, "k.cu");
  EXPECT_EQ(Files[0].Variants, 3u);
  EXPECT_EQ(variantNames(Built, TuningScope::File)[0].back(), "r48");
}

TEST_F(WorkloadSamplerTest, run_emptyAssignment_swapsNothing) {
  RunSample S = valueOf(sampler().run({}));
  EXPECT_TRUE(Runner.Runs[0].Images.empty());
  EXPECT_EQ(S.SubjectNs, (std::vector<double>{600, 100}));
  EXPECT_EQ(S.ProgramNs, 1000);
  EXPECT_EQ(S.WallS, 0.5);
  EXPECT_EQ(S.SpanNs, 1500);
  EXPECT_FALSE(S.Fault);
}

TEST_F(WorkloadSamplerTest, run_variant_hasTheKernelsName) {
  WorkloadSampler Sampler = sampler();
  valueOf(Sampler.run({}));
  RunSample S = valueOf(Sampler.run({2, 0}));
  EXPECT_FALSE(S.Fault);
  EXPECT_EQ(S.SubjectNs[0], 500);
  const auto &Placed = Runner.Runs.back().Images;
  ASSERT_EQ(Placed.size(), 2u); // Programs may load two containers for the unit.
  EXPECT_EQ(Placed.at("c1"), Placed.at("c2"));
  auto CodeOf = [](const std::string &Bytes, llvm::StringRef Name) {
    for (const CubinKernel &K : valueOf(parseCubin(Bytes)).Kernels)
      if (K.Resources.Name == Name)
        return K.CodeDigest;
    return std::string();
  };
  EXPECT_EQ(CodeOf(Placed.at("c1"), "_Z2avPf"), CodeOf(Built.Modules[0].Cubin, "x_Z2avPf"));
  // Another assignment starts from the module again.
  valueOf(Sampler.run({0, 0}));
  EXPECT_EQ(Runner.Runs.back().Images.at("c1"), Built.Modules[0].Cubin);
}

TEST_F(WorkloadSamplerTest, twins_getTheSameImage) {
  Unit Twin;
  Twin.Containers = {"c3"};
  Job.Modules[0].Twins = {Twin};
  valueOf(sampler().run({0, 0}));
  EXPECT_EQ(Runner.Runs.front().Images.size(), 3u);
}

TEST_F(WorkloadSamplerTest, fileVariants_areWholeImages) {
  Built.Modules[0].FileVariants = {
      {{}, "", {}, "", "plain"}, {{}, "", {}, "", "plain"}, {{48}, "", {}, "", "capped"}};
  WorkloadSampler Sampler = sampler(TuningScope::File);
  RunSample S = valueOf(Sampler.run({2}));
  EXPECT_EQ(Runner.Runs.front().Images.at("c1"), "capped");
  // The time of a file is the time of all its kernels.
  EXPECT_EQ(S.SubjectNs, (std::vector<double>{600}));
}

TEST_F(WorkloadSamplerTest, run_outputStatusOrTimeDiffers_isAFault) {
  WorkloadSampler Sampler = sampler();
  valueOf(Sampler.run({}));
  SwappedOutput = "sum 2\n";
  EXPECT_EQ(valueOf(Sampler.run({2, 0})).Fault,
            "line 1 of the output is 'sum 2' instead of 'sum 1'");
  // Before a variant was blamed, the default was run again to see what changes by itself.
  EXPECT_GT(Runner.Runs.size(), 2u);
  EXPECT_TRUE(Runner.Runs.back().Images.empty());
  SwappedOutput = "sum 1\n";
  SwappedStatus = 134;
  EXPECT_EQ(valueOf(Sampler.run({2, 0})).Fault, "exit status 134 instead of 0");
  TimesOut = true;
  EXPECT_EQ(valueOf(Sampler.run({2, 0})).Fault, "the program ran longer than 9 s");
}

TEST_F(WorkloadSamplerTest, output_defaultChangesToo_isNoFault) {
  WorkloadSampler Sampler = sampler();
  unsigned Count = 0;
  Runner.Program = [&](const ProbedProgram::Run &R, CommandResult &Result) {
    std::string Records = behave(R, Result);
    Result.Stdout = "sum 1\nat " + std::to_string(++Count) + "\n";
    return Records;
  };
  valueOf(Sampler.run({}));
  EXPECT_FALSE(valueOf(Sampler.run({2, 0})).Fault);
  EXPECT_EQ(Runner.Runs.size(), 3u);
  EXPECT_EQ(Check.reference().unstableLines(), 1u);
}

/// If there is no time to run the default again, only times may differ, and only if a timing run
/// has compared what the variants write.
TEST_F(WorkloadSamplerTest, onlyTimesDifferAndNoTimeIsLeft_isNoFaultIfMemoryWasCompared) {
  OutputCheck Hurried([](const probe::TimeStretch &) { return llvm::createStringError("no run"); },
                      [](bool) { return std::optional<std::string>("no time"); });
  std::vector<SubjectSpace> Selected = subjectsOf(Job, Built, TuningScope::Kernel);
  Selected[0].Nominee = 2;
  auto IsSound = [&](bool Compared, const Assignment &A, std::string Printed) {
    Selected[0].Compared = Compared;
    WorkloadSampler Sampler(Job, Built, TuningScope::Kernel, Selected, Spec, Probe, Runner, Hurried,
                            Images.path());
    SwappedOutput = std::move(Printed);
    return !valueOf(Sampler.run(A)).Fault;
  };
  DefaultOutput = "sum 1 in 0.3 s\n";
  valueOf(WorkloadSampler(Job, Built, TuningScope::Kernel, Selected, Spec, Probe, Runner, Hurried,
                          Images.path())
              .run({}));
  EXPECT_TRUE(IsSound(true, {2, 0}, "sum 1 in 0.2 s\n"));
  EXPECT_FALSE(IsSound(true, {2, 0}, "sum 2 in 0.3 s\n"));
  EXPECT_FALSE(IsSound(false, {2, 0}, "sum 1 in 0.2 s\n"));
  Selected[0].Nominee = 3;
  EXPECT_FALSE(IsSound(true, {2, 0}, "sum 1 in 0.2 s\n")) << "not the nominee";
  EXPECT_TRUE(IsSound(false, {0, 0}, "sum 1 in 0.2 s\n")) << "the default";
}

/// A line that the default has not changed yet may have another time if it changes others of its
/// form, so no run is made to see whether it changes this one.
TEST_F(WorkloadSamplerTest, timesOfAFormThatChangesDiffer_isNoFaultIfMemoryIsTheSame) {
  unsigned Defaults = 0;
  OutputCheck Checked([&](const probe::TimeStretch &By) {
    ++Defaults;
    return runWorkload(Spec, Probe, {}, Runner, By, nullptr);
  });
  auto IsSound = [&](bool Compared, bool Varies, std::string Printed) {
    std::vector<SubjectSpace> Selected = subjectsOf(Job, Built, TuningScope::Kernel);
    Selected[0].Nominee = 2;
    Selected[0].Compared = Compared;
    Selected[0].Varies = Varies;
    WorkloadSampler Sampler(Job, Built, TuningScope::Kernel, Selected, Spec, Probe, Runner, Checked,
                            Images.path());
    for (const char *Default :
         {"0 s : SETUP\n7 s : RUN\n3 s : END\n", "0 s : SETUP\n8 s : RUN\n4 s : END\n"}) {
      DefaultOutput = Default;
      valueOf(Sampler.run({}));
    }
    SwappedOutput = std::move(Printed);
    return !valueOf(Sampler.run({2, 0})).Fault;
  };
  const char *Other = "1 s : SETUP\n6 s : RUN\n5 s : END\n";
  EXPECT_TRUE(IsSound(true, false, Other));
  EXPECT_EQ(Defaults, 0u);
  EXPECT_FALSE(IsSound(true, true, Other)) << "what it writes varies";
  EXPECT_FALSE(IsSound(false, false, Other));
  EXPECT_GT(Defaults, 0u);
}

/// Where the default has run as often as it may, only the lines that it has changed may differ,
/// although there is no time for another run either.
TEST_F(WorkloadSamplerTest, noTimeIsLeftAfterAllRuns_onlyTimesDiffer_isAFault) {
  bool HasTime = true;
  OutputCheck Checked(
      [&](const probe::TimeStretch &By) {
        return runWorkload(Spec, Probe, {}, Runner, By, nullptr);
      },
      [&](bool) { return HasTime ? std::nullopt : std::optional<std::string>("no time"); });
  std::vector<SubjectSpace> Selected = subjectsOf(Job, Built, TuningScope::Kernel);
  Selected[0].Nominee = 2;
  Selected[0].Compared = true;
  WorkloadSampler Sampler(Job, Built, TuningScope::Kernel, Selected, Spec, Probe, Runner, Checked,
                          Images.path());
  DefaultOutput = "converged at 0.42 s\n";
  valueOf(Sampler.run({}));
  SwappedOutput = "converged at 0.43 s\n";
  EXPECT_TRUE(valueOf(Sampler.run({2, 0})).Fault);
  EXPECT_EQ(Checked.runs(), 4u);
  HasTime = false;
  EXPECT_TRUE(valueOf(Sampler.run({2, 0})).Fault);
}

/// The stretched run is made without time for it, so that programs which print times can be tuned.
/// It is not, where what a timing run has compared says as much.
TEST_F(WorkloadSamplerTest, noTimeIsLeft_stretchedRunIsMadeOnlyIfMemoryWasNotCompared) {
  unsigned Stretched = 0;
  auto SoundAfter = [&](bool Compared, std::string Printed) {
    Stretched = 0;
    OutputCheck Hurried(
        [&](const probe::TimeStretch &By) {
          Stretched += By.any();
          return runWorkload(Spec, Probe, {}, Runner, By, nullptr);
        },
        [](bool IsStretched) {
          return IsStretched ? std::nullopt : std::optional<std::string>("no time");
        });
    Hurried.stretchTimeBy({.LaunchNs = 1000});
    std::vector<SubjectSpace> Selected = subjectsOf(Job, Built, TuningScope::Kernel);
    Selected[0].Nominee = 2;
    Selected[0].Compared = Compared;
    WorkloadSampler Sampler(Job, Built, TuningScope::Kernel, Selected, Spec, Probe, Runner, Hurried,
                            Images.path());
    valueOf(Sampler.run({}));
    SwappedOutput = std::move(Printed);
    return !valueOf(Sampler.run({2, 0})).Fault;
  };
  DefaultOutput = "sum 1 in 0.3 s\n";
  EXPECT_TRUE(SoundAfter(true, "sum 1 in 0.2 s\n"));
  EXPECT_EQ(Stretched, 0u);
  EXPECT_FALSE(SoundAfter(true, "sum 2 in 0.3 s\n"));
  EXPECT_EQ(Stretched, 1u);
  EXPECT_FALSE(SoundAfter(false, "sum 1 in 0.2 s\n")) << "the default prints the same again";
  EXPECT_EQ(Stretched, 1u);
}

TEST_F(WorkloadSamplerTest, run_incompleteRecordsOrUnswappedImage_isAFault) {
  WorkloadSampler Sampler = sampler();
  valueOf(Sampler.run({}));
  Extra = "dropped\t5\n";
  EXPECT_EQ(valueOf(Sampler.run({2, 0})).Fault, "5 activity records were lost");
  Extra = "unswapped\tc1\tno memory\n";
  EXPECT_EQ(valueOf(Sampler.run({2, 0})).Fault, "an image could not be replaced: no memory");
}

TEST_F(WorkloadSamplerTest, run_untouchedProgramFails_endsTheTuning) {
  Runner.Program = [](const ProbedProgram::Run &, CommandResult &Result) {
    Result.ExitStatus = 3;
    return ProbeHead + "end\n";
  };
  EXPECT_EQ(messageOf(sampler().run({})),
            "workload-failed: the program itself failed with exit status 3");
}

TEST_F(WorkloadSamplerTest, run_signal_endsTheTuning) {
  Interrupted = 15;
  llvm::Error E = sampler().run({0, 0}).takeError();
  ASSERT_TRUE(E.isA<carve::Interrupted>());
  EXPECT_EQ(messageOf(std::move(E)), "interrupted: 15");
}

TEST_F(WorkloadSamplerTest, recording_faultyRuns_areLeftOut) {
  WorkloadSampler Sampler = sampler();
  SampleRecord Record;
  Sampler.recordInto(&Record);
  valueOf(Sampler.run({}));
  valueOf(Sampler.run({2, 0}));
  SwappedStatus = 1;
  valueOf(Sampler.run({2, 0}));
  EXPECT_EQ(Record.print(), "carve-samples\t1\n"
                            "sample\t_Z2avPf\tr32\t500\nsample\t_Z2avPf\tuntouched\t600\n"
                            "sample\tinit\tdefault\t100\nsample\tinit\tuntouched\t100\n"
                            "program\t300\t0.500000\nprogram\t300\t0.500000\n");
}

/// With -rdc=true, the linked image is replaced, which has the kernels of all its modules. The
/// inputs of nvlink are not images that a program loads.
TEST_F(WorkloadSamplerTest, deviceLink_linkedImage_isReplaced) {
  JobModule Second = Job.Modules[0];
  Job.Modules[0].Source.Relocatable = Second.Source.Relocatable = true;
  Second.Source.Key = "second";
  Second.Source.Containers = {"c3"};
  Job.Modules.push_back(Second); // A template puts the same kernels into a second module.
  Built.Modules.resize(2);
  JobLink Link;
  Link.Source.Containers = {"linked"};
  Link.Modules = {0, 1};
  Link.Cubin = Built.Modules[0].Cubin;
  Built.Modules[0].Cubin = Built.Modules[1].Cubin = "for nvlink";
  Built.Links = {Link};
  WorkloadSampler Sampler = sampler();
  valueOf(Sampler.run({}));
  valueOf(Sampler.run({2, 0}));
  ASSERT_EQ(Runner.Runs.size(), 2u);
  const std::map<std::string, std::string> Placed = Runner.Runs[1].Images;
  ASSERT_EQ(Placed.size(), 1u);
  EXPECT_EQ(Placed.at("linked"),
            valueOf(exchangeKernelNames(Link.Cubin, {{"_Z2avPf", "x_Z2avPf"}})));
  // If a module could not be assembled, the link has it as it was.
  Built.Modules[0].Cubin.clear();
  Built.Modules[1].Cubin.clear();
  valueOf(Sampler.run({2, 0}));
  EXPECT_EQ(Runner.Runs[2].Images.at("linked"), Link.Cubin);
}
