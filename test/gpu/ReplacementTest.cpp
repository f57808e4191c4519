// Images replaced in a running program: the clone's code runs under its kernel's own name, and the
// output stays the same.
#include "GpuTesting.h"

#include "Cubin/Assembler.h"
#include "Cubin/Cubin.h"
#include "Cubin/ExchangeNames.h"
#include "Nvcc/EmbeddedPtx.h"
#include "Tune/Variants/VariantRounds.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;
using namespace carve::test;

namespace {

struct ReplacementCase {
  std::string Name;
  Words Sources;
  size_t Kernels;
  size_t Modules = 1;
};

std::ostream &operator<<(std::ostream &OS, const ReplacementCase &C) { return OS << C.Name; }

class Replacement : public GpuTest, public testing::WithParamInterface<ReplacementCase> {};
class ReplacementOf : public GpuTest {};

/// Compiles \p Sources of the applications into the project's `app`.
std::string compileApp(Project &P, const Words &Sources) {
  Words Arguments = {"-O2", "-arch=" + TestArch, "-o", P.path("app")};
  for (const std::string &Source : Sources)
    Arguments.push_back(machine().Sources + "/apps/" + Source);
  P.compile(Arguments);
  return P.path("app");
}

/// A job with all that is built from it.
struct BuiltJob {
  TuningJob Job;
  JobBuild Built;
};

/// Returns the job with the critical points of every kernel in its modules.
BuiltJob wholeJob(const Project &P, const ProbeRecord &Trace, TuningOptions Options) {
  Options.Effort = 0;
  ProcessRunner Runner;
  UnitStore Store = P.store();
  JobContext Context{Store, machine().T, Runner, Options};
  JobSources Sources;
  TuningJob Job = valueOf(prepareJob(Trace, Context, /*AllUnits=*/false, Sources));
  JobBuild Built(Job);
  VariantRounds(Job, Sources, Context, Built).makeAll(12);
  return {std::move(Job), std::move(Built)};
}

BuiltJob jobOf(const Project &P, const ProbeRecord &Trace) {
  TuningOptions Options;
  Options.LeastShare = 0;
  Options.DevicesDir = machine().devicesDir();
  return wholeJob(P, Trace, Options);
}

/// Makes one image per module with variant \p Chosen of every kernel under the kernel's own name.
ImageMap imagesOf(const Project &P, const BuiltJob &Whole, const std::vector<size_t> &Chosen) {
  const auto &[Job, Built] = Whole;
  ImageMap Images;
  for (size_t M = 0; M < Job.Modules.size(); ++M) {
    const JobModule &Module = Job.Modules[M];
    std::vector<std::pair<std::string, std::string>> Pairs;
    for (size_t K : Module.Kernels)
      Pairs.emplace_back(Job.Kernels[K].Traced.Kernel,
                         Built.Kernels[K].Variants[Chosen[K]].CloneName);
    std::string Path = P.path(std::to_string(M) + ".cubin");
    EXPECT_FALSE(
        writeFileAtomically(Path, valueOf(exchangeKernelNames(Built.Modules[M].Cubin, Pairs))));
    for (const std::string &Container : Module.Source.Containers)
      Images[Container] = Path;
  }
  return Images;
}

} // namespace

TEST_P(Replacement, clone_runsUnderItsKernelsName) {
  const ReplacementCase &Case = GetParam();
  Project P("replace-" + Case.Name);
  std::string App = compileApp(P, Case.Sources);
  RunRecord Default = runProbed({App});
  ASSERT_EQ(Default.Output.ExitStatus, 0) << Default.Stderr;
  const BuiltJob Whole = jobOf(P, Default.Probe);
  const auto &[Job, Built] = Whole;
  ASSERT_EQ(Job.Modules.size(), Case.Modules);
  ASSERT_EQ(Job.Kernels.size(), Case.Kernels);

  // First comes the control copy, which must not differ, then each of the others in turn, for all
  // kernels at once.
  size_t Most = 0;
  for (const KernelBuild &K : Built.Kernels) {
    ASSERT_GT(K.Variants.size(), 2u) << K.Variants.front().CloneName;
    Most = std::max(Most, K.Variants.size());
  }
  for (size_t Variant = 1; Variant < Most; ++Variant) {
    std::vector<size_t> Chosen;
    for (const KernelBuild &K : Built.Kernels)
      Chosen.push_back(std::min(Variant, K.Variants.size() - 1));
    ImageMap Images = imagesOf(P, Whole, Chosen);
    RunRecord Run = runProbed({App}, Images);
    EXPECT_EQ(Run.Output.ExitStatus, 0) << Run.Stderr;
    EXPECT_EQ(Run.Output.Stdout, Default.Output.Stdout);
    EXPECT_EQ(Run.Probe.Processes, Default.Probe.Processes);
    EXPECT_EQ(Run.Probe.Incomplete + Run.Probe.Unswapped.size() + Run.Probe.Aside.size(), 0u);
    EXPECT_EQ(Run.Probe.Swapped, Default.Probe.Containers);
    EXPECT_EQ(launchesByName(Run.Probe), launchesByName(Default.Probe));
    for (size_t K = 0; K < Job.Kernels.size(); ++K)
      EXPECT_EQ(registersOf(Run.Probe, Job.Kernels[K].Traced.Kernel),
                Built.Kernels[K].Variants[Chosen[K]].Resources.RegsPerThread);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Replacement,
    testing::Values(ReplacementCase{"Graph", {"graph.cu"}, 2},
                    ReplacementCase{
                        "TwoModules", {"two_modules_main.cu", "two_modules_other.cu"}, 2, 2},
                    ReplacementCase{"Processes", {"processes.cu"}, 1},
                    ReplacementCase{"DynamicSmem", {"dynamic_smem.cu"}, 1},
                    ReplacementCase{"Occupancy", {"occupancy.cu"}, 2}),
    [](const auto &Info) { return Info.param.Name; });

/// Only one of the two kernels has static shared memory. The image therefore lacks the other
/// kernel's name for that section, and its table of names grows.
TEST_F(ReplacementOf, grownTableOfNames_isLoaded) {
  Project P("exchanged");
  std::string App = compileApp(P, {"exchanged.cu"});
  RunRecord Default = runProbed({App}), Turned = runProbed({App, "turned"});
  ASSERT_NE(Default.Output.Stdout, Turned.Output.Stdout);
  ASSERT_EQ(Default.Probe.Kernels.size(), 2u);
  std::vector<Unit> Units = P.store().units();
  ASSERT_EQ(Units.size(), 1u);
  std::string Cubin = valueOf(P.store().blob(Units.front().Images.front().CubinDigest));
  std::string Exchanged = valueOf(exchangeKernelNames(
      Cubin, {{Default.Probe.Kernels[0].Kernel, Default.Probe.Kernels[1].Kernel}}));
  EXPECT_GT(Exchanged.size(), Cubin.size());
  ASSERT_FALSE(writeFileAtomically(P.path("exchanged.cubin"), Exchanged));
  ImageMap Images;
  for (const std::string &Container : Units.front().Containers)
    Images[Container] = P.path("exchanged.cubin");
  RunRecord Run = runProbed({App}, Images);
  EXPECT_EQ(Run.Output.ExitStatus, 0) << Run.Stderr;
  EXPECT_EQ(Run.Output.Stdout, Turned.Output.Stdout);
}

/// With -rdc=true the container of the device link is replaced, whose wrapper also lists the
/// containers that were linked. Variables of the other files stay in use.
TEST_F(ReplacementOf, deviceLinkOfThreeFiles_isReplaced) {
  Project P("linked");
  Words Build = {"-O2", "-arch=" + TestArch, "-rdc=true", "-o", P.path("app")};
  for (const char *Source : {"linked_main.cu", "linked_hot.cu", "linked_shared.cu"})
    Build.push_back(machine().Sources + "/apps/" + Source);
  P.compile(Build);
  RunRecord Default = runProbed({P.path("app")});
  ASSERT_EQ(Default.Output.ExitStatus, 0) << Default.Stderr;
  const auto [Job, Built] = jobOf(P, Default.Probe);
  ASSERT_EQ(Built.Links.size(), 1u) << P.log();
  ASSERT_EQ(Job.Kernels.size(), 1u);
  const JobKernel &Kernel = Job.Kernels.front();
  const std::vector<JobVariant> &Variants = Built.Kernels.front().Variants;
  ASSERT_GT(Variants.size(), 2u);
  for (const JobVariant &V : Variants) {
    ASSERT_FALSE(
        writeFileAtomically(P.path("linked.cubin"),
                            valueOf(exchangeKernelNames(Built.Links.front().Cubin,
                                                        {{Kernel.Traced.Kernel, V.CloneName}}))));
    ImageMap Images;
    for (const std::string &Container : Built.Links.front().Source.Containers)
      Images[Container] = P.path("linked.cubin");
    RunRecord Run = runProbed({P.path("app")}, Images);
    EXPECT_EQ(Run.Output.ExitStatus, 0) << Run.Stderr;
    EXPECT_EQ(Run.Output.Stdout, Default.Output.Stdout) << V.CloneName;
    EXPECT_EQ(Run.Probe.Swapped.size(), 1u);
    EXPECT_EQ(Run.Probe.Unswapped.size(), 0u);
    EXPECT_EQ(launchesByName(Run.Probe), launchesByName(Default.Probe));
    EXPECT_EQ(registersOf(Run.Probe, Kernel.Traced.Kernel), V.Resources.RegsPerThread);
  }
}

/// Kernels that ptxas has assembled with other options are in one image with the rest. The driver
/// loads it, and what runs are these kernels.
TEST_F(ReplacementOf, reassembledKernels_computeTheSame) {
  Project Plain("assembled-plain");
  RunRecord Default = runProbed({compileApp(Plain, {"graph.cu"})});
  ASSERT_EQ(Default.Output.ExitStatus, 0) << Default.Stderr;
  size_t Emitted = 0;
  for (auto [Name, Setting] : {std::pair("o1", "optimization-level: 1"),
                               {"l0", "register-usage-level: 0"},
                               {"l10", "register-usage-level: 10"}}) {
    SCOPED_TRACE(Setting);
    Project P(std::string("assembled-") + Name);
    ASSERT_FALSE(writeFileAtomically(P.path("p.yaml"),
                                     "carve-profile: 1\nkernels:\n  - kernel: /./\n    variant: {" +
                                         std::string(Setting) + "}\n"));
    P.compile({"-O2", "-arch=" + TestArch, "--carve-profile=" + P.path("p.yaml"), "-o",
               P.path("app"), machine().Sources + "/apps/graph.cu"});
    Emitted += llvm::StringRef(P.log()).count(" is emitted as ");
    RunRecord Run = runProbed({P.path("app")});
    EXPECT_EQ(Run.Output.ExitStatus, 0) << Run.Stderr;
    EXPECT_EQ(Run.Output.Stdout, Default.Output.Stdout);
    EXPECT_EQ(launchesByName(Run.Probe), launchesByName(Default.Probe));
  }
  EXPECT_GT(Emitted, 0u);
}

/// What ptxas spills to shared memory takes whole warps, also of a block that is not one.
TEST_F(ReplacementOf, spillingToSharedMemory_blockWithinAWarp_computesTheSame) {
  Project P("within-a-warp");
  const Words Source = {"-O2", "-DTHREADS=176", "-arch=" + TestArch,
                        "-o",  P.path("app"),   machine().Sources + "/apps/pressed.cu"};
  P.compile(Source);
  RunRecord Default = runProbed({P.path("app")});
  ASSERT_EQ(Default.Output.ExitStatus, 0) << Default.Stderr;
  ASSERT_FALSE(writeFileAtomically(P.path("p.yaml"),
                                   "carve-profile: 1\nkernels:\n  - kernel: /pressed/\n"
                                   "    variant: default\n    entries:\n"
                                   "      - when: {block: 176x1x1}\n"
                                   "        variant: {cap: 24, smem-spilling: true}\n"));
  Words WithProfile = Source;
  WithProfile.insert(WithProfile.begin(), "--carve-profile=" + P.path("p.yaml"));
  P.compile(WithProfile);
  ASSERT_NE(P.log().find("r24-smem"), std::string::npos) << P.log();
  RunRecord Run = runProbed({P.path("app")});
  EXPECT_EQ(Run.Output.ExitStatus, 0) << Run.Stderr;
  EXPECT_EQ(Run.Output.Stdout, Default.Output.Stdout);
}

TEST_F(ReplacementOf, damagedImage_leavesTheDefault) {
  Project P("damaged");
  std::string App = compileApp(P, {"graph.cu"});
  RunRecord Default = runProbed({App});
  ASSERT_FALSE(writeFileAtomically(P.path("cut.cubin"), "\x7f"
                                                        "ELF"));
  for (const char *Image : {"cut.cubin", "absent.cubin"}) {
    ImageMap Images;
    for (const std::string &Container : Default.Probe.Containers)
      Images[Container] = P.path(Image);
    RunRecord Run = runProbed({App}, Images);
    EXPECT_EQ(Run.Output.ExitStatus, 0) << Run.Stderr;
    EXPECT_EQ(Run.Output.Stdout, Default.Output.Stdout);
    EXPECT_EQ(Run.Probe.Unswapped.size(), 1u);
    EXPECT_EQ(Run.Probe.Swapped.size(), 0u);
  }
}

/// The traced domain tries what the preserve domain forbids: blocks of 1024 threads leave no more
/// than 64 registers, but only 256 threads are ever launched.
TEST_F(ReplacementOf, launchDomain_limitsTheCaps) {
  Project P("domains");
  P.compile({"-O2", "-DWIDE", "-arch=" + TestArch, "-o", P.path("app"),
             machine().Sources + "/apps/pressed.cu"});
  RunRecord Run = runProbed({P.path("app")});
  for (LaunchDomain Domain : {LaunchDomain::Preserve, LaunchDomain::Traced}) {
    TuningOptions Options;
    Options.Domain = Domain;
    Options.DevicesDir = machine().devicesDir();
    const auto [Job, Built] = wholeJob(P, Run.Probe, Options);
    ASSERT_EQ(Job.Kernels.size(), 1u);
    unsigned Most = 0;
    for (const JobVariant &V : Built.Kernels.front().Variants)
      Most = std::max(Most, V.Resources.RegsPerThread);
    if (Domain == LaunchDomain::Preserve)
      EXPECT_LE(Most, 64u);
    else
      EXPECT_GT(Most, 64u);
    bool Shrinks = llvm::any_of(Built.Kernels.front().Dropped, [](llvm::StringRef Reason) {
      return Reason.contains("largest block would shrink");
    });
    EXPECT_EQ(Shrinks, Domain == LaunchDomain::Preserve);
  }
}
