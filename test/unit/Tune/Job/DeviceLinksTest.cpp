// Device links (-rdc=true) in a tuning: which can be linked again, and which arguments nvlink gets.
// A recorded linked cubin replaces the output of nvlink.
#include "Tune/Job/DeviceLinks.h"
#include "Cubin/Cubin.h"
#include "Tune/Job/JobParts.h"
#include "unit/Tune/TuneTesting.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace carve;
using Words = std::vector<std::string>;

namespace {

/// A runner that replaces nvlink.
class Linker final : public CommandRunner {
public:
  std::vector<Words> Calls;
  std::string Made;
  /// nvlink fails if an input file contains this.
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

/// Two relocatable units `a` and `b`, linked from objects that are no longer there. Unit `a` has
/// the kernel `init` of the recorded cubin, and `b` has `_Z2avPf`. Their clones have the names of
/// the cubin's kernels, too, so that the recorded cubin has every clone.
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
      Job.Modules.push_back({Parsed[M].Source, {}, Parsed[M].Image, {M}});
      JobKernel K = sampleKernel(M ? "_Z2avPf" : "init", 0.5);
      K.Modules = {M};
      Job.Kernels.push_back(std::move(K));
    }
    Built = defaultsOf(Job);
    for (size_t M = 0; M < 2; ++M) {
      Built.Modules[M].Cubin = "variants of " + Parsed[M].Source.Key;
      for (JobVariant &V : Built.Kernels[M].Variants)
        V.CloneName = Names[M];
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
    leaveKernels(linkKernelVariants(Job, Sources, Context, Built), Job, Built);
  }
  /// The kernels that are still tuned.
  Words left() const {
    Words Names;
    for (size_t K = 0; K < Job.Kernels.size(); ++K)
      if (Built.Kernels[K].LeftReason.empty())
        Names.push_back(Job.Kernels[K].Traced.Kernel);
    return Names;
  }

  TempDir Dir;
  UnitStore Store;
  Linker Nvlink;
  TuningOptions Options;
  TuningJob Job = sampleJob();
  JobBuild Built;
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

TEST_F(DeviceLinksTest, units_ofASoundLink_canBeTuned) {
  std::vector<ParsedLink> Links = parse();
  ASSERT_EQ(Links.size(), 1u);
  ASSERT_EQ(Links[0].Inputs.size(), 2u);
  EXPECT_EQ(Links[0].Inputs[0].Module, 0u);
  EXPECT_EQ(Links[0].Inputs[1].Module, 1u);
  EXPECT_EQ(Links[0].Inputs[0].Path, "") << "the object is gone";
  for (const ParsedModule &M : Parsed)
    EXPECT_FALSE(M.NotLinked);
}

TEST_F(DeviceLinksTest, unit_inNoLink_isLeft) {
  Link.Inputs.pop_back();
  parse();
  EXPECT_FALSE(Parsed[0].NotLinked);
  EXPECT_EQ(Parsed[1].NotLinked, KnownReason::NoDeviceLink);
  // A link for another device does not count.
  Link.Images[0].Arch = "sm_100";
  EXPECT_TRUE(parse().empty());
  EXPECT_EQ(Parsed[0].NotLinked, KnownReason::NoDeviceLink);
}

TEST_F(DeviceLinksTest, input_ofNoUnitAndGone_makesTheLinkUnsound) {
  Link.Inputs.push_back({"foreign.o", "", 0, {"container-of-another"}});
  EXPECT_TRUE(parse().empty());
  for (const ParsedModule &M : Parsed)
    EXPECT_EQ(M.NotLinked, KnownReason::ChangedInputs);
}

/// Recorded samples do not name containers, so one sound link in the store is enough. A program has
/// loaded all its links, so all must be sound.
TEST_F(DeviceLinksTest, links_oneOfTwoSound_sufficesWithAnyLinkOnly) {
  DeviceLink Changed = Link;
  Changed.Inputs.push_back({"foreign.o", "", 0, {"container-of-another"}});
  EXPECT_EQ(parseLinks({Changed, Link}, Parsed, Job, /*AnyLink=*/true).size(), 1u);
  EXPECT_FALSE(Parsed[0].NotLinked);
  EXPECT_EQ(parseLinks({Changed, Link}, Parsed, Job, /*AnyLink=*/false).size(), 1u);
  EXPECT_EQ(Parsed[0].NotLinked, KnownReason::ChangedInputs);
}

TEST_F(DeviceLinksTest, nvlink_someUnitsWithVariants_getsTheRestAsItWas) {
  addKernels();
  Built.Modules[1].Cubin.clear(); // Its variants could not be assembled.
  linkVariants();
  ASSERT_EQ(Nvlink.Calls.size(), 1u);
  const Words &Call = Nvlink.Calls[0];
  EXPECT_EQ(Words(Call.begin() + 1, Call.begin() + 5),
            (Words{"-m64", "--arch=sm_90", "-lcudadevrt", "-ignore-host-info"}));
  ASSERT_EQ(Call.size(), 9u);
  ASSERT_EQ(Built.Links.size(), 1u);
  EXPECT_EQ(Built.Links[0].Modules, std::vector<size_t>{0});
  EXPECT_EQ(Built.Links[0].Cubin, Nvlink.Made);
  EXPECT_EQ(Job.Kernels.size(), 2u);
}

TEST_F(DeviceLinksTest, registers_afterLinking_areThoseOfTheLinkedImage) {
  addKernels();
  Built.Kernels[0].Variants[0].Resources.RegsPerThread = 999;
  linkVariants();
  std::map<std::string, unsigned> Regs;
  for (const CubinKernel &K : valueOf(parseCubin(Nvlink.Made)).Kernels)
    Regs[K.Resources.Name] = K.Resources.RegsPerThread;
  EXPECT_EQ(Built.Kernels[0].Variants[0].Resources.RegsPerThread, Regs[Names[0]]);
  EXPECT_EQ(Built.Kernels[0].Default.RegsPerThread, Regs[Names[0]]);
}

TEST_F(DeviceLinksTest, module_refusedByNvlink_isPutAside) {
  addKernels();
  Nvlink.Refuses = "variants of a";
  linkVariants();
  // nvlink runs with both, with each alone, and with the accepted one.
  EXPECT_EQ(Nvlink.Calls.size(), 4u);
  EXPECT_EQ(left(), Words{"_Z2avPf"});
  EXPECT_EQ(Job.Kernels[0].Traced.Kernel, "init");
  EXPECT_EQ(Built.Kernels[0].LeftReason.text(), "device-link-failed");
  EXPECT_EQ(Built.Kernels[0].timedTogether(), 0u);
  EXPECT_EQ(Built.Kernels[1].timedTogether(), 2u);
  EXPECT_EQ(Built.Links.size(), 1u);
}

TEST_F(DeviceLinksTest, module_cloneMissingAfterLinking_isPutAside) {
  addKernels();
  Built.Kernels[1].Variants.back().CloneName = "dropped";
  linkVariants();
  EXPECT_EQ(left(), Words{"init"});
}

TEST_F(DeviceLinksTest, kernels_nothingCanBeLinked_areAllLeft) {
  addKernels();
  Nvlink.Refuses = "variants of";
  linkVariants();
  EXPECT_TRUE(left().empty());
  EXPECT_TRUE(Built.Links.empty());
}
