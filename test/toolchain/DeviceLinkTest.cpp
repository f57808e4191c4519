// Programs of relocatable device code (-rdc=true), made as build systems make them. The device link
// is recorded, its kernels are tuned with recorded samples in place of the GPU, and the next build
// contains the result.
//
// The program is in test/gpu/apps/linked_*.cu. pressedLinked is complete in its file, and calling
// is not. In the samples pressedLinked is fastest at 64 registers.
#include "BuiltTools.h"
#include "Cubin/ExchangeNames.h"
#include "RecordedJob.h"
#include "Store/StoreUpkeep.h"

#include "Store/Profile.h"
#include "Support/Digest.h"
#include "Tune/Variants/VariantRounds.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace carve;

namespace {

const std::string Hot = "_Z13pressedLinkedPfii", Calling = "_Z7callingPfi";
constexpr unsigned HotCap = 64;

using Words = std::vector<std::string>;

Words operator+(Words A, const Words &B) {
  A.insert(A.end(), B.begin(), B.end());
  return A;
}

/// Returns the directory of all cases of this process. Records hold absolute paths, so what one
/// case has compiled is of use to another only at the same path.
const std::string &place() {
  static TempDir Place = llvm::cantFail(TempDir::create("carve-links"));
  return Place.path();
}

class DeviceLinkTest : public BuiltToolsTest {
protected:
  DeviceLinkTest() {
    Work = llvm::cantFail(TempDir::createLocked(place() + "/work"));
    Work.passLockOn(false);
  }
  void SetUp() override;

  /// Compiles the three files with carve-nvcc. The first compile of a case without \p More is the
  /// same in all cases, so its files and records are kept and copied.
  void compileObjects(const Words &More = {});
  /// Links to \p Output, and checks that nvcc alone makes the same from the same inputs.
  void linkAsNvcc(Words Arguments, const std::string &Output);
  /// Tunes with the samples and returns the report.
  TuningReport tuneProgram();
  /// Runs \p Build, which builds everything from the beginning, twice with a tuning between. Checks
  /// that \p Output is tuned after the second run.
  template <typename Function> void expectTunedByTheSecond(Function Build, std::string Output);
  unsigned hotRegs(const std::string &Output) {
    return kernelsOf(Output)[Hot].Resources.RegsPerThread;
  }
  std::pair<TuningJob, JobBuild> job();
  std::string reasonOf(const TuningReport &Report, const std::string &Kernel);

  const Words Compile = {"-O2", "-arch=sm_90", "-rdc=true", "-c"};
  const Words Objects = {"linked_main.o", "linked_hot.o", "linked_shared.o"};
};

std::string traceOfTheProgram() {
  return "probe\tcarve-probe\t1\t0\t-\n"
         "probe\tdevice\t0\tNVIDIA H200\tGPU-0\t9\t0\t132\t150109880320\t65536\t65536\t2048\t32\t"
         "233472\t232448\t49152\t1024\t0\t580.159.03\t0\t0\t0\t0\n"
         "probe\tkernel\t" +
         Hot +
         "\t4096,1,1\t256,1,1\t0\t0\t1,1,1\t0\t32\t0\t20\t6000000\t300000\t0\n"
         "probe\tkernel\t" +
         Calling +
         "\t4096,1,1\t256,1,1\t0\t0\t1,1,1\t0\t24\t0\t20\t600000\t30000\t0\n"
         "probe\tend\n";
}

std::string samples() {
  std::string Text = "carve-samples\t1\n" + traceOfTheProgram();
  auto Add = [&](const std::string &Variant, unsigned Ns) {
    for (unsigned I = 0; I < 9; ++I)
      Text +=
          "sample\t" + Hot + "\t" + Variant + "\t" + std::to_string(Ns + I * 7 % 5 * 300) + "\n";
  };
  for (const char *Default : {"default", "control", "untouched"})
    Add(Default, 6000000);
  for (unsigned Cap = 24; Cap < 256; ++Cap)
    Add("r" + std::to_string(Cap), Cap == HotCap ? 4800000 : 6300000);
  for (unsigned I = 0; I < 9; ++I)
    Text += "program\t600000\t0.25\n";
  return Text;
}

void DeviceLinkTest::SetUp() {
  BuiltToolsTest::SetUp();
  if (IsSkipped())
    return;
  // The programs are not run here, and the real one includes much of the standard library.
  write("App.cuh", "#pragma once\n"
                   "#include <cuda_runtime.h>\n"
                   "#define CHECK(Call) static_cast<void>(Call)\n"
                   "inline float *deviceFloats(size_t) { return nullptr; }\n"
                   "inline void printChecksum(const char *, const float *, size_t) {}\n");
  for (const char *Name : {"linked.cuh", "linked_main.cu", "linked_hot.cu", "linked_shared.cu"}) {
    llvm::Expected<std::string> Text =
        readFile(std::string(CARVE_SOURCE_DIR "/test/gpu/apps/") + Name);
    ASSERT_TRUE(bool(Text)) << llvm::toString(Text.takeError());
    write(Name, *Text);
  }
  write("linked.samples", samples());
}

void DeviceLinkTest::compileObjects(const Words &More) {
  const std::string Kept = place() + "/kept";
  const bool IsFirst = More.empty() && !exists("store");
  if (IsFirst && llvm::sys::fs::exists(Kept)) {
    EXPECT_TRUE(run({"cp", "-a", Kept + "/.", Work.path()}).succeeded());
    return;
  }
  for (const char *Stem : {"linked_main", "linked_hot", "linked_shared"})
    build(Compile + More + Words{std::string(Stem) + ".cu", "-o", std::string(Stem) + ".o"});
  if (IsFirst && !HasFailure()) {
    EXPECT_TRUE(run({"cp", "-a", Work.path() + "/.", Kept}).succeeded());
  }
}

void DeviceLinkTest::linkAsNvcc(Words Arguments, const std::string &Output) {
  build(Arguments + Words{"-o", Output});
  EXPECT_FALSE(logSays("handed to nvcc")) << log();
  std::string Ours = read(Output);
  buildPlain(Arguments + Words{"-o", Output});
  EXPECT_TRUE(read(Output) == Ours) << testing::PrintToString(Arguments);
}

TuningReport DeviceLinkTest::tuneProgram() {
  CommandResult R = carve({"tune", "--samples=linked.samples", "--format=json", "--", "./app"});
  EXPECT_TRUE(R.succeeded()) << R.Stderr << log();
  llvm::Expected<TuningReport> Report = parseJsonReport(R.Stdout, "report");
  if (Report)
    return std::move(*Report);
  ADD_FAILURE() << llvm::toString(Report.takeError());
  return {};
}

std::string DeviceLinkTest::reasonOf(const TuningReport &Report, const std::string &Kernel) {
  for (const KernelReport &K : Report.Kernels)
    if (K.Mangled == Kernel)
      return K.Tuned ? "tuned" : K.Reason.text();
  return "not in the report";
}

template <typename Function>
void DeviceLinkTest::expectTunedByTheSecond(Function Build, std::string Output) {
  Build();
  ImageKernels Default = kernelsOf(Output);
  EXPECT_EQ(Default[Hot].Resources.RegsPerThread, 32u);
  TuningReport Report = tuneProgram();
  EXPECT_EQ(reasonOf(Report, Hot), "tuned") << log();
  EXPECT_EQ(reasonOf(Report, Calling), "external-call");
  Build();
  ImageKernels Tuned = kernelsOf(Output);
  EXPECT_EQ(Tuned[Hot].Resources.RegsPerThread, HotCap) << log();
  expectSameCode(Default, Tuned, {Hot});
  EXPECT_TRUE(verifyStore(store(), /*Repair=*/false).empty());
  // The link of the tuned program is recorded, too.
  EXPECT_EQ(storeStats(store()).Links, 1u);
  EXPECT_EQ(reasonOf(tuneProgram(), Hot), "tuned") << log();
}

std::pair<TuningJob, JobBuild> DeviceLinkTest::job() {
  RecordedJob Recorded(traceOfTheProgram(), store(), Tools, Runner);
  JobBuild Built(Recorded.Job);
  VariantRounds(Recorded.Job, Recorded.Sources, Recorded.Context, Built).makeAll(12);
  return {std::move(Recorded.Job), std::move(Built)};
}

} // namespace

/// CMake does it like this: the device link is a step of its own, and g++ links the program.
TEST_F(DeviceLinkTest, separateDeviceLink_secondBuildIsTuned) {
  auto Build = [&] {
    compileObjects();
    linkAsNvcc(Words{"-arch=sm_90", "-dlink", "--no-compress"} + Objects, "dlink.o");
    std::string Lib = Tools.BinDir + "/../lib64";
    CommandResult R =
        run(Words{"g++", "-o", "app", "dlink.o"} + Objects +
            Words{"-L" + Lib, "-lcudadevrt", "-lcudart_static", "-lrt", "-lpthread", "-ldl"});
    EXPECT_TRUE(R.succeeded()) << R.Stderr;
  };
  expectTunedByTheSecond(Build, "app");
}

/// Makefiles do it like this.
TEST_F(DeviceLinkTest, programOfObjects_secondBuildIsTuned) {
  expectTunedByTheSecond(
      [&] {
        compileObjects();
        linkAsNvcc(Words{"-arch=sm_90"} + Objects, "app");
      },
      "app");
}

/// nvlink compiles the PTX of objects that have nothing else. The tuned object has an image besides
/// the PTX.
TEST_F(DeviceLinkTest, objectsWithPtxOnly_secondBuildIsTuned) {
  expectTunedByTheSecond(
      [&] {
        for (const char *Stem : {"linked_main", "linked_hot", "linked_shared"})
          build({"-O2", "-gencode=arch=compute_80,code=compute_80", "-dc",
                 std::string(Stem) + ".cu"});
        linkAsNvcc(Words{"-arch=sm_90"} + Objects, "app");
      },
      "app");
}

TEST_F(DeviceLinkTest, sharedLibrary_secondBuildIsTuned) {
  expectTunedByTheSecond(
      [&] {
        compileObjects({"-Xcompiler", "-fPIC"});
        linkAsNvcc(Words{"-arch=sm_90", "-shared"} + Objects, "app.so");
      },
      "app.so");
}

TEST_F(DeviceLinkTest, programWithAStaticLibrary_secondBuildIsTuned) {
  const Words Link = {"-arch=sm_90", "linked_main.o"};
  expectTunedByTheSecond(
      [&] {
        compileObjects();
        llvm::sys::fs::remove(path("liblinked.a"));
        EXPECT_TRUE(
            run({"ar", "rcs", "liblinked.a", "linked_shared.o", "linked_hot.o"}).succeeded());
        linkAsNvcc(Link + Words{"-L.", "-llinked", "-llinked"}, "app");
      },
      "app");
  // The library's own name leads to the same.
  linkAsNvcc(Link + Words{"liblinked.a"}, "app");
  EXPECT_EQ(hotRegs("app"), HotCap) << log();
  EXPECT_EQ(storeStats(store()).Links, 1u);
  EXPECT_EQ(reasonOf(tuneProgram(), Hot), "tuned") << log();
}

TEST_F(DeviceLinkTest, programInOneStep_isTuned) {
  const Words Build = {"-O2",           "-arch=sm_90",      "-rdc=true", "linked_main.cu",
                       "linked_hot.cu", "linked_shared.cu", "-o",        "app"};
  build(Build, {"CARVE_RUN=none"});
  ImageKernels Default = kernelsOf("app");
  build(Build + Words{"--carve-samples=linked.samples"});
  ImageKernels Tuned = kernelsOf("app");
  EXPECT_EQ(Tuned[Hot].Resources.RegsPerThread, HotCap) << log();
  expectSameCode(Default, Tuned, {Hot});
  // Its objects are gone, but their images are in the store.
  std::string Container = *sectionOf(read("app"), ".nv_fatbin");
  EXPECT_EQ(store().linksOfContainer(digestOf(Container)).size(), 1u);
  EXPECT_EQ(reasonOf(tuneProgram(), Hot), "tuned") << log();
}

/// The image that the probe loads is the linked image with the clones added. Everything else is as
/// nvlink made it for the program.
TEST_F(DeviceLinkTest, multiVersionImage_isTheProgramsWithClones) {
  compileObjects();
  build(Words{"-arch=sm_90"} + Objects + Words{"-o", "app"});
  const auto [Job, Built] = job();
  ASSERT_EQ(Built.Links.size(), 1u) << log();
  ASSERT_EQ(Job.Kernels.size(), 1u);
  ImageKernels Default = kernelsOf("app");
  const JobLink &Link = Built.Links.front();
  EXPECT_EQ(Link.Modules, std::vector<size_t>{0});
  for (const JobVariant &V : Built.Kernels.front().Variants) {
    std::string Exchanged = llvm::cantFail(exchangeKernelNames(Link.Cubin, {{Hot, V.CloneName}}));
    ImageKernels Image;
    for (CubinKernel &K : llvm::cantFail(parseCubin(Exchanged)).Kernels)
      Image[K.Resources.Name] = std::move(K);
    EXPECT_EQ(Image[Calling].CodeDigest, Default[Calling].CodeDigest);
    EXPECT_EQ(Image[Calling].Resources.RegsPerThread, Default[Calling].Resources.RegsPerThread);
    EXPECT_EQ(Image[Hot].Resources.RegsPerThread, V.Resources.RegsPerThread);
    EXPECT_EQ(Image[Hot].CodeDigest == Default[Hot].CodeDigest, V.Setting.isDefault())
        << V.CloneName;
    EXPECT_EQ(V.Resources.RegsPerThread, V.Setting.Cap.value_or(32));
  }
}

TEST_F(DeviceLinkTest, decisionByHand_isInTheLinkedProgram) {
  write("profile.yaml",
        "carve-profile: 1\nkernels:\n  - kernel: \"" + Hot + "\"\n    variant: {cap: 48}\n");
  compileObjects({"--carve-profile=profile.yaml"});
  linkAsNvcc(Words{"-arch=sm_90"} + Objects, "app");
  EXPECT_EQ(hotRegs("app"), 48u);
  std::vector<DeviceLink> Links = store().links();
  ASSERT_EQ(Links.size(), 1u);
  for (const LinkInput &I : Links.front().Inputs) {
    ASSERT_EQ(I.Containers.size(), 1u);
    EXPECT_EQ(store().unitsOfContainer(I.Containers.front()).size(), 1u) << I.Path;
  }
}

TEST_F(DeviceLinkTest, linkByAnotherCompiler_isTheReason) {
  compileObjects();
  buildPlain(Words{"-arch=sm_90"} + Objects + Words{"-o", "app"});
  EXPECT_EQ(reasonOf(tuneProgram(), Hot), "no-device-link");
}

TEST_F(DeviceLinkTest, objectOfAnotherCompiler_changed_isTheReason) {
  compileObjects();
  auto CompileForeign = [&] {
    write("foreign.cu", read("linked_shared.cu") + "__device__ int Another;\n");
    buildPlain(Compile + Words{"foreign.cu", "-o", "foreign.o"});
  };
  CompileForeign();
  build({"-arch=sm_90", "linked_main.o", "linked_hot.o", "foreign.o", "-o", "app"});
  EXPECT_EQ(reasonOf(tuneProgram(), Hot), "tuned") << log();
  write("linked_shared.cu", read("linked_shared.cu") + "__device__ int Second;\n");
  CompileForeign();
  EXPECT_EQ(reasonOf(tuneProgram(), Hot), "changed-inputs");
  EXPECT_TRUE(logSays("foreign.o is no longer what was linked")) << log();
}

/// Objects that no longer exist come from the store.
TEST_F(DeviceLinkTest, removedObjects_comeFromTheStore) {
  compileObjects();
  build(Words{"-arch=sm_90"} + Objects + Words{"-o", "app"});
  for (const std::string &Object : Objects)
    llvm::sys::fs::remove(path(Object));
  EXPECT_EQ(reasonOf(tuneProgram(), Hot), "tuned") << log();
}

TEST_F(DeviceLinkTest, fileScope_isLeft) {
  compileObjects();
  build(Words{"-arch=sm_90"} + Objects + Words{"-o", "app"});
  CommandResult R =
      carve({"tune", "--samples=linked.samples", "--scope=file", "--format=json", "--", "./app"});
  EXPECT_TRUE(R.succeeded()) << R.Stderr;
  llvm::Expected<TuningReport> Report = parseJsonReport(R.Stdout, "report");
  ASSERT_TRUE(bool(Report)) << llvm::toString(Report.takeError());
  EXPECT_EQ(reasonOf(*Report, Hot), "relocatable-device-code");
}

namespace {
struct LeftLink {
  std::vector<std::string> Arguments;
  const char *Reason;
};
} // namespace

/// Links without relocatable code and links that carve-nvcc does not know are nvcc's.
TEST_F(DeviceLinkTest, otherLinks_areHandedToNvcc) {
  buildPlain({"-c", "host.cpp", "-o", "host.o"});
  write("entry.cpp", "int host(); int main() { return host(); }\n");
  buildPlain({"-c", "entry.cpp", "-o", "entry.o"});
  compileObjects();
  const LeftLink Cases[] = {
      {{"host.o", "entry.o", "-o", "out"}, "no-device-source"},
      {{"host.o", "entry.cpp", "-o", "out"}, "no-device-source"},
      {{"-shared", "host.o", "-o", "out"}, "no-device-source"},
      {Words{"-arch=sm_90", "-dlink", "-G"} + Objects + Words{"-o", "out"}, "device-debug"},
  };
  for (const LeftLink &C : Cases) {
    build(C.Arguments);
    EXPECT_TRUE(logSays("handed to nvcc: " + std::string(C.Reason))) << log();
  }
  EXPECT_EQ(storeStats(store()).Links, 0u);
}

TEST_F(DeviceLinkTest, failuresAndNames_areNvccs) {
  compileObjects();
  for (const Words &Arguments :
       {Words{"-arch=sm_90", "-dlink", "linked_main.o", "-o", "out.o"},
        Words{"-arch=sm_90", "linked_main.o", "linked_hot.o"},
        Words{"-arch=sm_90", "-dlink", "linked_main.o", "absent.o"},
        Words{"-arch=sm_100", "-dlink"} + Objects, Words{"-arch=sm_90", "-dlink"} + Objects}) {
    CommandResult Ours = carveNvcc(Arguments), Theirs = plain(Arguments);
    EXPECT_EQ(Ours.ExitStatus, Theirs.ExitStatus) << testing::PrintToString(Arguments);
    EXPECT_EQ(Ours.Stdout, Theirs.Stdout);
    // The host linker's messages name nvcc's temporary files.
    if (llvm::is_contained(Arguments, "-dlink")) {
      EXPECT_EQ(Ours.Stderr, Theirs.Stderr);
    }
    expectNoTemporaries();
  }
  EXPECT_TRUE(exists("a_dlink.o"));
}
