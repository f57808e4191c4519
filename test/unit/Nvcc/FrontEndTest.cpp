#include "Nvcc/FrontEnd.h"

#include "Nvcc/BuildPlan.h"
#include "NvccTesting.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace carve;
namespace path = llvm::sys::path;

namespace {

constexpr char Head[] =
    "// release 13.0, V13.0.88\n.version 9.0\n.target sm_90\n.address_size 64\n";

/// Takes the place of cicc and writes PTX that shows its input.
class StubCicc : public CommandRunner {
public:
  llvm::Expected<CommandResult> run(const Command &C) override {
    Seen = C;
    CommandResult R;
    R.ExitStatus = Status;
    auto After = [&](llvm::StringRef Name) { return *(llvm::find(C.Argv, Name) + 1); };
    Input = llvm::cantFail(readFile(
        *llvm::find_if(C.Argv, [](llvm::StringRef Word) { return Word.ends_with(".ii"); })));
    ModuleId = llvm::cantFail(readFile(After("--module_id_file_name")));
    if (Status == 0)
      llvm::cantFail(writeFileAtomically(After("-o"), Made));
    return R;
  }

  Command Seen;
  std::string Input, ModuleId, Made = std::string(Head) + "made";
  int Status = 0;
};

std::vector<FrontEndStep> steps(const std::string &Name) {
  return llvm::cantFail(parseDryrun(recorded("dryrun-" + Name + "-13.0.88.txt")))
      .Units.at(0)
      .FrontEnds;
}

Words cicc(const Words &More) {
  Words All = {"cicc",  "-arch", "compute_90", "--module_id_file_name", "/keep/k.module_id",
               "-tused"};
  llvm::append_range(All, More);
  return All;
}

struct FrontEndTest : testing::Test {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-front-end"));
  Toolchain Tools{Dir.path() + "/bin/nvcc", Dir.path() + "/bin"};
  std::string Cicc = Dir.path() + "/nvvm/bin/cicc";
  FrontEndStep Step = steps("single").at(0);
  StubCicc Runner;

  FrontEndTest() { putProgram(Cicc); }
  static void putProgram(const std::string &Path) {
    ASSERT_FALSE(llvm::sys::fs::create_directories(path::parent_path(Path)));
    llvm::cantFail(writeFileAtomically(Path, ""));
    ASSERT_FALSE(llvm::sys::fs::setPermissions(Path, llvm::sys::fs::all_all));
  }
  llvm::Expected<std::string> make(const FrontEndSetting &Setting) {
    return compileFlavour({Step, "text", "id", std::string(Head) + "kept", Dir.path(), Setting},
                          Tools, Runner);
  }
  llvm::Expected<std::string> make(std::optional<unsigned> Cap,
                                   FrontEndKnob Knob = FrontEndKnob::None) {
    return make(FrontEndSetting{Cap, Knob});
  }
};

} // namespace

TEST(FrontEndStep, step_ofEveryPtx_isRead) {
  std::vector<FrontEndStep> Single = steps("single");
  ASSERT_EQ(Single.size(), 1u);
  EXPECT_EQ(Single[0].KeepDir, "/keep");
  EXPECT_EQ(Single[0].InputName, "saxpy.cpp1.ii");
  EXPECT_EQ(Single[0].ModuleIdName, "saxpy.module_id");
  EXPECT_EQ(Single[0].PtxName, "saxpy.ptx");
  EXPECT_EQ(Single[0].ptxPath(), "/keep/saxpy.ptx");
  EXPECT_EQ(Single[0].Cap, std::nullopt);
  EXPECT_EQ(Single[0].Arguments.front(), "--c++17");
  EXPECT_EQ(Single[0].Arguments.back(), "/keep/saxpy.ptx");
  // There are two images of one PTX, and PTX alone.
  std::vector<FrontEndStep> PtxOnly = steps("ptx-only-arch");
  ASSERT_EQ(PtxOnly.size(), 2u);
  EXPECT_EQ(PtxOnly[0].PtxName, "saxpy.compute_80.ptx");
  EXPECT_EQ(PtxOnly[1].PtxName, "saxpy.compute_100.ptx");
  EXPECT_EQ(steps("several-arch").size(), 2u);
  EXPECT_EQ(steps("virtual-only").size(), 1u);
  EXPECT_TRUE(llvm::is_contained(steps("rdc").at(0).Arguments, "--device-c"));
}

TEST(FrontEndStep, redirectionsAndOwnCap_read_areNotArguments) {
  for (const FrontEndStep &S : steps("threads"))
    EXPECT_EQ(S.Arguments.back(), S.ptxPath());
  FrontEndStep Capped = steps("environment").at(0);
  EXPECT_EQ(Capped.Cap, 64u);
  EXPECT_FALSE(llvm::is_contained(Capped.Arguments, "-maxreg"));
  EXPECT_FALSE(llvm::is_contained(Capped.Arguments, "64"));
  auto Joined = readFrontEndStep(cicc({"-maxreg=40", "/keep/k.ii", "-o", "/keep/k.ptx"}));
  ASSERT_TRUE(Joined);
  EXPECT_EQ(Joined->Cap, 40u);
  EXPECT_EQ(Joined->Arguments.size(), 8u);
}

TEST(FrontEndStep, words_unknownShape_areNotAStep) {
  EXPECT_TRUE(readFrontEndStep(cicc({"/keep/k.ii", "-o", "/keep/k.ptx"})));
  const Words Others[] = {{},
                          {"/keep/k.ii"},
                          {"/keep/k.ii", "-o"},
                          {"-o", "/keep/k.ptx"},
                          {"/keep/k.gpu", "-o", "/keep/k.ptx"},
                          {"/keep/k.ii", "/keep/l.ii", "-o", "/keep/k.ptx"},
                          {"/keep/k.ii", "-o", "/keep/k.ptx", "-o", "/keep/l.ptx"},
                          {"/keep/k.ii", "-o", "/other/k.ptx"},
                          {"/other/k.ii", "-o", "/keep/k.ptx"},
                          {"k.ii", "-o", "/keep/k.ptx"},
                          {"/keep/k.ii", "-o", "/keep/k.ptx", "-maxreg", "many"},
                          {"/keep/k.ii", "-o", "/keep/k.ptx", "-maxreg"},
                          {"/keep/k.ii", "-o", "/keep/k.ptx", "-maxreg", "40", "-maxreg=40"}};
  for (const Words &More : Others)
    EXPECT_FALSE(readFrontEndStep(cicc(More))) << testing::PrintToString(More);
}

TEST(FrontEndStep, plan_stepOfUnknownShape_otherwiseUnchanged) {
  std::string Text = recorded("dryrun-single-13.0.88.txt");
  size_t At = Text.find("cpp1.ii\" -o \"/keep/saxpy.ptx");
  ASSERT_NE(At, std::string::npos);
  BuildPlan Plan = llvm::cantFail(parseDryrun(Text.replace(At, 7, "gpu")));
  ASSERT_EQ(Plan.Units.size(), 1u);
  EXPECT_TRUE(Plan.Units[0].FrontEnds.empty());
  EXPECT_EQ(Plan.Units[0].Images.size(), 1u);
  EXPECT_EQ(Plan.Units[0].Source, "src/saxpy.cu");
}

TEST_F(FrontEndTest, files_ofARun_lieInATemporaryDirectory) {
  EXPECT_EQ(llvm::cantFail(make(40)), std::string(Head) + "made");
  EXPECT_EQ(Runner.Input, "text");
  EXPECT_EQ(Runner.ModuleId, "id");
  const Words &Argv = Runner.Seen.Argv;
  EXPECT_EQ(Argv[0], Cicc);
  EXPECT_EQ(Words(Argv.end() - 2, Argv.end()), (Words{"-maxreg", "40"}));
  ASSERT_EQ(Argv.size(), 1 + Step.Arguments.size() + 2);
  for (size_t I = 0; I != Step.Arguments.size(); ++I) {
    llvm::StringRef Old = Step.Arguments[I], New = Argv[I + 1];
    if (Old.starts_with("/keep/")) {
      EXPECT_EQ(path::filename(New), path::filename(Old));
      EXPECT_FALSE(New.contains("/keep/")) << New.str();
      EXPECT_FALSE(llvm::sys::fs::exists(path::parent_path(New))) << New.str();
    } else {
      EXPECT_EQ(New, Old);
    }
  }
  // Relative names in line tables start from this directory.
  EXPECT_EQ(Runner.Seen.Dir, Dir.path());
  EXPECT_TRUE(llvm::is_contained(Runner.Seen.Environment, "PWD=" + Dir.path()));
}

TEST_F(FrontEndTest, arguments_namingOtherFiles_areUnchanged) {
  Step.Arguments.insert(Step.Arguments.begin(),
                        {"--dump=/keep/x", "--name=/project/keep/x", "/keeper/x", "-DA=b=/keep/x"});
  llvm::cantFail(make(40));
  const Words &Argv = Runner.Seen.Argv;
  EXPECT_EQ(path::filename(Argv[1]), "x");
  EXPECT_FALSE(llvm::StringRef(Argv[1]).contains("/keep/"));
  EXPECT_TRUE(llvm::StringRef(Argv[1]).starts_with("--dump=/"));
  EXPECT_EQ(Words(Argv.begin() + 2, Argv.begin() + 5),
            Words(Step.Arguments.begin() + 1, Step.Arguments.begin() + 4));
}

TEST_F(FrontEndTest, usersCap_lowerCapAsked_isReplacedAndNeverExceeded) {
  llvm::cantFail(make(std::nullopt));
  EXPECT_FALSE(llvm::is_contained(Runner.Seen.Argv, "-maxreg"));
  Step.Cap = 64;
  llvm::cantFail(make(std::nullopt));
  EXPECT_EQ(Runner.Seen.Argv.back(), "64");
  llvm::cantFail(make(40));
  EXPECT_EQ(llvm::count(Runner.Seen.Argv, "-maxreg"), 1);
  EXPECT_EQ(Runner.Seen.Argv.back(), "40");
  EXPECT_EQ(reasonOf(checkFrontEndCap(Step, std::nullopt, 65)), "above-register-cap");
  EXPECT_EQ(reasonOf(checkFrontEndCap(Step, 40, 48)), "above-register-cap");
  EXPECT_EQ(reasonOf(checkFrontEndCap(Step, 40, 40)), "");
  Step.Cap.reset();
  EXPECT_EQ(reasonOf(checkFrontEndCap(Step, std::nullopt, 255)), "");
  EXPECT_EQ(reasonOf(checkFrontEndCap(Step, std::nullopt, 256)), "front-end-cap");
  EXPECT_EQ(reasonOf(checkFrontEndCap(Step, std::nullopt, 0)), "front-end-cap");
  EXPECT_EQ(reasonOf(checkFrontEndCap(Step, 40, std::nullopt)), "");
}

TEST_F(FrontEndTest, knob_isHandedToLlvmBehindTheArguments) {
  const size_t Own = 1 + Step.Arguments.size();
  llvm::cantFail(make(std::nullopt, FrontEndKnob::UnrollMore));
  EXPECT_EQ(
      Words(Runner.Seen.Argv.begin() + Own, Runner.Seen.Argv.end()),
      (Words{"--Xopt", "-unroll-partial-threshold=1000", "--Xopt", "-unroll-threshold=2000"}));
  llvm::cantFail(make(40, FrontEndKnob::UnrollByTwo));
  EXPECT_EQ(Words(Runner.Seen.Argv.begin() + Own, Runner.Seen.Argv.end()),
            (Words{"--Xopt", "-unroll-count=2", "-maxreg", "40"}));
  llvm::cantFail(make(std::nullopt, FrontEndKnob::NoRematerialization));
  EXPECT_EQ(Words(Runner.Seen.Argv.begin() + Own, Runner.Seen.Argv.end()),
            (Words{"--Xopt", "-nv-disable-remat"}));
}

TEST_F(FrontEndTest, newerLlvm_takesTheArchitecturesPlace_ptxGetsTheUnitsHead) {
  const std::string Body = "made\n";
  Runner.Made = "// Compilation tools, release 13.0\n// Based on NVVM 20.0.0\n.version 9.0\n"
                ".target sm_100\n.address_size 64\n" +
                Body;
  const std::string Own = "// Compilation tools, release 13.0\n// Based on NVVM 7.0.1\n"
                          ".version 9.0\n.target sm_90\n.address_size 64\n";
  Step.Arguments.insert(Step.Arguments.begin(), {"-arch", "compute_90"});
  auto Made = [&](FrontEndKnob Knob, llvm::StringRef Original) {
    return compileFlavour({Step, "text", "id", Original, Dir.path(), {{}, Knob}}, Tools, Runner);
  };
  for (FrontEndKnob Knob : {FrontEndKnob::NewerLlvm, FrontEndKnob::NewerLlvmRolled}) {
    EXPECT_EQ(llvm::cantFail(Made(Knob, Own)), Own + Body);
    const Words &Argv = Runner.Seen.Argv;
    EXPECT_EQ(llvm::count(Argv, "-arch"), 1);
    EXPECT_FALSE(llvm::is_contained(Argv, "compute_90"));
    EXPECT_TRUE(llvm::is_contained(Argv, "compute_100"));
    EXPECT_EQ(llvm::is_contained(Argv, "-unroll-max-count=1"),
              Knob == FrontEndKnob::NewerLlvmRolled);
  }
  EXPECT_EQ(reasonOf(Made(FrontEndKnob::UnrollMore, Own).takeError()), "other-front-end");
  std::string OtherRelease = Own;
  OtherRelease.replace(OtherRelease.find("13.0"), 4, "12.9");
  EXPECT_EQ(reasonOf(Made(FrontEndKnob::NewerLlvm, OtherRelease).takeError()), "other-front-end");
}

TEST_F(FrontEndTest, newerLlvm_ofLaterArchitectures_doesNotApply) {
  for (const char *Has : {"compute_100", "compute_100a", "compute_120", "lto_90", ""}) {
    Words Arguments = {"-m64", "-arch", Has, "-ftz=0"};
    EXPECT_FALSE(appliesTo(FrontEndKnob::NewerLlvm, Arguments)) << Has;
    EXPECT_FALSE(appliesTo(FrontEndKnob::NewerLlvmRolled, Arguments)) << Has;
    EXPECT_TRUE(appliesTo(FrontEndKnob::UnrollMore, Arguments)) << Has;
  }
  EXPECT_FALSE(appliesTo(FrontEndKnob::NewerLlvm, Words{"-m64"}));
  EXPECT_FALSE(appliesTo(FrontEndKnob::NewerLlvm, Words{"-arch"}));
  EXPECT_TRUE(appliesTo(FrontEndKnob::NewerLlvm, Words{"-arch", "compute_75"}));
  EXPECT_TRUE(appliesTo(FrontEndKnob::NewerLlvm, Words{"-arch", "compute_90a"}));
  Runner.Seen = {};
  Step.Arguments = {"-arch", "compute_120"};
  EXPECT_EQ(reasonOf(make(std::nullopt, FrontEndKnob::NewerLlvm).takeError()), "front-end-option");
  EXPECT_TRUE(Runner.Seen.Argv.empty()) << "cicc is not asked";
}

TEST_F(FrontEndTest, knob_refusedByCicc_isAReason) {
  Runner.Status = 1;
  EXPECT_EQ(reasonOf(make(std::nullopt, FrontEndKnob::UnrollByTwo).takeError()),
            "front-end-option");
  EXPECT_NE(reasonOf(make(40).takeError()), "front-end-option") << "cicc itself fails";
}

TEST_F(FrontEndTest, restrictPointers_areInTheTextOfOneKernel) {
  FrontEndSetting Setting{.Restrict = true};
  EXPECT_EQ(reasonOf(make(Setting).takeError()), "front-end-text") << "of which is not said";
  Setting = Setting.forKernel({"_Z1kPf", {.Values = {{1, 4, 7}}, .Apart = {{0, 0}}}, {0}});
  EXPECT_EQ(*Setting.Known, (KnownKernel{"_Z1kPf", {}, {0}})) << "values are another knob's";
  EXPECT_EQ(FrontEndSetting().forKernel({"_Z1kPf", {}, {0}}), FrontEndSetting());
  EXPECT_TRUE(mayBeRestrict(Words{"-arch", "compute_90"}));
  Step.Arguments.push_back("-kernel-params-are-restrict");
  EXPECT_FALSE(mayBeRestrict(Step.Arguments));
  EXPECT_EQ(reasonOf(make(Setting).takeError()), "front-end-option");
}

TEST(FrontEndSetting, names_areReadBackAndDiffer) {
  std::set<std::string> Names;
  for (FrontEndKnob Knob : frontEndKnobs()) {
    EXPECT_NE(Knob, FrontEndKnob::None);
    EXPECT_EQ(frontEndKnobNamed(nameOf(Knob)), Knob);
    EXPECT_EQ(ciccArguments(Knob).empty(), isForKnownLaunches(Knob));
    for (std::optional<unsigned> Cap : {std::optional<unsigned>(), std::optional(40u)})
      Names.insert(nameOf(FrontEndSetting{Cap, Knob}));
  }
  EXPECT_EQ(Names.size(), 2 * frontEndKnobs().size());
  for (FrontEndKnob Knob : frontEndKnobs())
    EXPECT_NE(FrontEndKnobNames.find(nameOf(Knob)), llvm::StringRef::npos);
  EXPECT_EQ(nameOf(FrontEndSetting{40, FrontEndKnob::UnrollByTwo}), "f40-unroll2");
  EXPECT_EQ(nameOf(FrontEndSetting{255}), "f255");
  EXPECT_EQ(nameOf(FrontEndSetting{}), "");
  EXPECT_EQ(nameOf(FrontEndKnob::None), "");
  EXPECT_EQ(frontEndKnobNamed(""), std::nullopt);
  EXPECT_EQ(frontEndKnobNamed("unroll3"), std::nullopt);
  EXPECT_TRUE(ciccArguments(FrontEndKnob::None).empty());
  EXPECT_TRUE(FrontEndSetting{}.isDefault());
  EXPECT_FALSE((FrontEndSetting{{}, FrontEndKnob::UnrollMore}).isDefault());
}

TEST_F(FrontEndTest, cicc_inEitherPlace_isTheToolkits) {
  llvm::cantFail(make(40));
  EXPECT_EQ(Runner.Seen.Argv[0], Cicc);
  // Some toolkits have cicc beside nvcc.
  ASSERT_FALSE(llvm::sys::fs::remove(Cicc));
  putProgram(Tools.tool("cicc"));
  llvm::cantFail(make(40));
  EXPECT_EQ(Runner.Seen.Argv[0], Tools.tool("cicc"));
  ASSERT_FALSE(llvm::sys::fs::remove(Tools.tool("cicc")));
  EXPECT_EQ(reasonOf(make(40).takeError()), "no-front-end");
}

TEST_F(FrontEndTest, cicc_ofAnotherRelease_isRefused) {
  Runner.Made = "// release 13.1, V13.1.2\n.version 9.1\n.target sm_90\n.address_size 64\nmade";
  EXPECT_EQ(reasonOf(make(40).takeError()), "other-front-end");
  Runner.Made = "";
  EXPECT_EQ(reasonOf(make(40).takeError()), "other-front-end");
  Runner.Status = 2;
  EXPECT_NE(reasonOf(make(40).takeError()).find("exit status 2"), std::string::npos);
}

TEST_F(FrontEndTest, compileDirectory_missing_ciccRunsElsewhere) {
  llvm::cantFail(compileFlavour({Step, "text", "id", Head, "/no/such/place", {40}}, Tools, Runner));
  EXPECT_EQ(Runner.Seen.Dir, path::parent_path(Runner.Seen.Argv[Runner.Seen.Argv.size() - 3]));
}
