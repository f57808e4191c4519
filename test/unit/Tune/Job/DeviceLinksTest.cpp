// Device links (-rdc=true) in a tuning: which can be linked again, and what nvlink is given. The
// recorded linked cubin stands for whatever nvlink makes.
#include "Tune/Job/DeviceLinks.h"
#include "Cubin/Cubin.h"
#include "Tune/Job/JobParts.h"
#include "unit/Tune/TuneTesting.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace carve;
using Words = std::vector<std::string>;

namespace {

/// A runner in nvlink's place.
class Linker final : public CommandRunner {
public:
  std::vector<Words> Calls;
  std::string Made;
  /// nvlink refuses a call that has this in an argument.
  std::string Refuses = "nothing";

  llvm::Expected<CommandResult> run(const Command &C) override {
    Calls.push_back(C.Argv);
    CommandResult Result;
    for (const std::string &Word : C.Argv) {
      llvm::Expected<std::string> File = readFile(Word);
      if (!File)
        llvm::consumeError(File.takeError());
      else if (File->find(Refuses) != std::string::npos)
        Result.ExitStatus = 255;
    }
    if (Result.succeeded()) {
      EXPECT_EQ(messageOf(writeFileAtomically(C.Argv.back(), Made)), "");
    }
    return Result;
  }
};

/// Two relocatable units `a` and `b`, linked from objects that are no longer there. The kernel of
/// the one is `init` of the recorded cubin, of the other `_Z2avPf`; their variants are `init` and
/// `_Z2avPf` too, so that the recorded cubin has every clone.
class DeviceLinksTest : public testing::Test {
protected:
  DeviceLinksTest()
      : Dir(llvm::cantFail(TempDir::create("carve-links"))), Store(Dir.path() + "/store") {
    Job.Modules.clear();
    Job.Kernels.clear();
    Nvlink.Made =
        valueOf(readFile(CARVE_TEST_INPUTS "/ptx/kernels.linked.sm_80.cuda-13.0.88.cubin"));
    for (const char *Name : {"a", "b"})
      addUnit(Name);
    Link.Key = "link";
    Link.Output = "app";
    Link.Directory = Dir.path();
    Link.Images = {{"sm_90", "", {"-m64", "--arch=sm_90", "-use-host-info", "-lcudadevrt"}}};
    Link.Inputs = {{"a.o", "", 0, {"container-a"}}, {"b.o", "", 0, {"container-b"}}};
  }

  void addUnit(const std::string &Name) {
    Unit U;
    U.Key = Name;
    U.Relocatable = true;
    U.Output = Name + ".o";
    U.Containers = {"other", "container-" + Name};
    UnitImage I;
    I.Arch = "sm_90";
    I.CubinDigest = valueOf(Store.putBlob("cubin of " + Name));
    I.PtxDigest = valueOf(Store.putBlob(recordedPtx("kernels.cuda-13.0.88.ptx")));
    I.PtxasOptions = {"-arch=sm_90", "-D" + Name};
    U.Images = {I};
    JobContext Context{Store, {}, Nvlink, Options};
    for (ParsedModule &M : parseModules({U}, Job, Context))
      Parsed.push_back(std::move(M));
  }

  /// Puts both units into the job, as if their variants had been assembled.
  void addKernels() {
    for (size_t M = 0; M < 2; ++M) {
      Parsed[M].InJob = M;
      Job.Modules.push_back({Parsed[M].Source, {}, Parsed[M].Image, {}, {M}, {}});
      Job.Modules[M].Cubin = "variants of " + Parsed[M].Source.Key;
      JobKernel K = sampleKernel(M ? "_Z2avPf" : "init", 0.5);
      K.Modules = {M};
      for (JobVariant &V : K.Variants)
        V.CloneName = Names[M];
      Job.Kernels.push_back(std::move(K));
    }
  }

  std::vector<ParsedLink> parse(bool AnyLink = false) {
    return parseLinks({Link}, Parsed, Job, AnyLink);
  }
  void linkVariants() {
    JobContext Context{Store, {}, Nvlink, Options};
    JobSources Sources;
    Sources.Links = parse();
    Sources.Modules = Parsed;
    leaveKernels(linkKernelVariants(Sources, Job, Context), Job);
  }
  /// Kernels that are tuned still.
  Words left() const {
    Words Names;
    for (const JobKernel &K : Job.Kernels)
      if (K.LeftReason.empty())
        Names.push_back(K.Traced.Kernel);
    return Names;
  }

  TempDir Dir;
  UnitStore Store;
  Linker Nvlink;
  TuningOptions Options;
  TuningJob Job = sampleJob();
  std::vector<ParsedModule> Parsed;
  DeviceLink Link;
  Words Names = kernelNames();

  static Words kernelNames() {
    std::string Bytes =
        valueOf(readFile(CARVE_TEST_INPUTS "/ptx/kernels.linked.sm_80.cuda-13.0.88.cubin"));
    Words Found;
    for (const CubinKernel &K : valueOf(parseCubin(Bytes)).Kernels)
      Found.push_back(K.Resources.Name);
    return Found;
  }
};

} // namespace

TEST_F(DeviceLinksTest, UnitsOfASoundLinkCanBeTuned) {
  std::vector<ParsedLink> Links = parse();
  ASSERT_EQ(Links.size(), 1u);
  ASSERT_EQ(Links[0].Inputs.size(), 2u);
  EXPECT_EQ(Links[0].Inputs[0].Module, 0u);
  EXPECT_EQ(Links[0].Inputs[1].Module, 1u);
  EXPECT_EQ(Links[0].Inputs[0].Path, "") << "the object is gone";
  for (const ParsedModule &M : Parsed)
    EXPECT_FALSE(M.NotLinked);
}

TEST_F(DeviceLinksTest, UnitsInNoLinkAreLeft) {
  Link.Inputs.pop_back();
  parse();
  EXPECT_FALSE(Parsed[0].NotLinked);
  EXPECT_EQ(Parsed[1].NotLinked, "no-device-link");
  // A link for another device is none.
  Link.Images[0].Arch = "sm_100";
  EXPECT_TRUE(parse().empty());
  EXPECT_EQ(Parsed[0].NotLinked, "no-device-link");
}

TEST_F(DeviceLinksTest, InputsOfNobodyMustBeAsTheyWere) {
  Link.Inputs.push_back({"foreign.o", "", 0, {"container-of-another"}});
  EXPECT_TRUE(parse().empty());
  for (const ParsedModule &M : Parsed)
    EXPECT_EQ(M.NotLinked, "changed-inputs");
}

/// Recorded samples say nothing of containers: of all links of the store one is enough. A program
/// has loaded all.
TEST_F(DeviceLinksTest, OneSoundLinkOfSeveral) {
  DeviceLink Changed = Link;
  Changed.Inputs.push_back({"foreign.o", "", 0, {"container-of-another"}});
  EXPECT_EQ(parseLinks({Changed, Link}, Parsed, Job, /*AnyLink=*/true).size(), 1u);
  EXPECT_FALSE(Parsed[0].NotLinked);
  EXPECT_EQ(parseLinks({Changed, Link}, Parsed, Job, /*AnyLink=*/false).size(), 1u);
  EXPECT_EQ(Parsed[0].NotLinked, "changed-inputs");
}

TEST_F(DeviceLinksTest, NvlinkIsGivenVariantsAndTheRestAsItWas) {
  addKernels();
  Job.Modules[1].Cubin.clear(); // Its variants could not be assembled.
  linkVariants();
  ASSERT_EQ(Nvlink.Calls.size(), 1u);
  const Words &Call = Nvlink.Calls[0];
  EXPECT_EQ(Words(Call.begin() + 1, Call.begin() + 5),
            (Words{"-m64", "--arch=sm_90", "-lcudadevrt", "-ignore-host-info"}));
  ASSERT_EQ(Call.size(), 9u);
  ASSERT_EQ(Job.Links.size(), 1u);
  EXPECT_EQ(Job.Links[0].Modules, std::vector<size_t>{0});
  EXPECT_EQ(Job.Links[0].Cubin, Nvlink.Made);
  EXPECT_EQ(Job.Kernels.size(), 2u);
}

TEST_F(DeviceLinksTest, RegistersAreThoseOfTheLinkedImage) {
  addKernels();
  Job.Kernels[0].Variants[0].Resources.RegsPerThread = 999;
  linkVariants();
  std::map<std::string, unsigned> Regs;
  for (const CubinKernel &K : valueOf(parseCubin(Nvlink.Made)).Kernels)
    Regs[K.Resources.Name] = K.Resources.RegsPerThread;
  EXPECT_EQ(Job.Kernels[0].Variants[0].Resources.RegsPerThread, Regs[Names[0]]);
  EXPECT_EQ(Job.Kernels[0].Region.Default.RegsPerThread, Regs[Names[0]]);
}

TEST_F(DeviceLinksTest, AModuleThatNvlinkRefusesIsPutAside) {
  addKernels();
  Nvlink.Refuses = "variants of a";
  linkVariants();
  // Both, each alone, and the one that is accepted.
  EXPECT_EQ(Nvlink.Calls.size(), 4u);
  EXPECT_EQ(left(), Words{"_Z2avPf"});
  EXPECT_EQ(Job.Kernels[0].Traced.Kernel, "init");
  EXPECT_EQ(Job.Kernels[0].LeftReason, "device-link-failed");
  EXPECT_EQ(Job.Kernels[0].timedTogether(), 0u);
  EXPECT_EQ(Job.Kernels[1].timedTogether(), 2u);
  EXPECT_EQ(Job.Links.size(), 1u);
}

TEST_F(DeviceLinksTest, ACloneThatIsMissingIsAFailure) {
  addKernels();
  Job.Kernels[1].Variants.back().CloneName = "dropped";
  linkVariants();
  EXPECT_EQ(left(), Words{"init"});
}

TEST_F(DeviceLinksTest, NothingThatCanBeLinkedLeavesAllKernels) {
  addKernels();
  Nvlink.Refuses = "variants of";
  linkVariants();
  EXPECT_TRUE(left().empty());
  EXPECT_TRUE(Job.Links.empty());
}
