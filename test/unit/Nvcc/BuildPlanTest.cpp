#include "Nvcc/BuildPlan.h"
#include "Nvcc/EmbeddedPtx.h"

#include "NvccTesting.h"

using namespace carve;

namespace {

BuildPlan plan(const std::string &Name) {
  llvm::Expected<BuildPlan> Plan = parseDryrun(recorded("dryrun-" + Name + "-13.0.88.txt"));
  if (Plan)
    return *Plan;
  ADD_FAILURE() << llvm::toString(Plan.takeError());
  return {};
}

std::vector<std::string> archs(const DeviceUnit &U) {
  std::vector<std::string> Names;
  for (const DeviceImage &I : U.Images)
    Names.push_back(I.Arch);
  return Names;
}

TEST(BuildPlan, compile_oneArchitecture_isRead) {
  BuildPlan Plan = plan("single");
  ASSERT_EQ(Plan.Units.size(), 1u);
  const DeviceUnit &U = Plan.Units[0];
  EXPECT_EQ(U.Source, "src/saxpy.cu");
  EXPECT_EQ(U.ObjectPath, "obj/saxpy.o");
  EXPECT_EQ(U.FatbinPath, "/keep/saxpy.fatbin");
  EXPECT_EQ(U.FatbinaryArguments, (Words{"--create=/keep/saxpy.fatbin", "-64",
                                         "--cicc-cmdline=-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 ",
                                         "--image3=kind=elf,sm=90,file=/keep/saxpy.sm_90.cubin",
                                         "--image3=kind=ptx,sm=90,file=/keep/saxpy.ptx"}));
  ASSERT_EQ(U.Images.size(), 1u);
  EXPECT_EQ(U.Images[0].Arch, "sm_90");
  EXPECT_EQ(U.Images[0].PtxPath, "/keep/saxpy.ptx");
  EXPECT_EQ(U.Images[0].CubinPath, "/keep/saxpy.sm_90.cubin");
  EXPECT_EQ(U.Images[0].PtxasOptions, (Words{"-arch=sm_90", "-m64"}));
}

TEST(BuildPlan, hostCompilerCalls_read_keepEveryWord) {
  BuildPlan Plan = plan("single");
  // The source is preprocessed for both sides, and compiled.
  ASSERT_EQ(Plan.HostCommands.size(), 3u);
  for (const Words &Command : Plan.HostCommands)
    EXPECT_EQ(Command.front(), "gcc");
  EXPECT_EQ(Plan.HostCommands[0][1], "-D__CUDA_ARCH_LIST__=900");
  EXPECT_EQ(Plan.HostCommands[2].back(), "obj/saxpy.o");
}

TEST(BuildPlan, variables_read_omitTheEnvironmentsFlags) {
  Words Variables = dryrunVariables("#$ _HERE_=/cuda/bin\nnvcc warning : x=y\n#$ PATH=/a:/b\n"
                                    "#$ NVCC_APPEND_FLAGS=-g\n#$ gcc -DX=1\n#$ PATH=/c\n");
  EXPECT_EQ(Variables, (Words{"_HERE_=/cuda/bin", "PATH=/a:/b", "PATH=/c"}));
}

TEST(BuildPlan, images_severalArchitectures_oneForEachRealOne) {
  BuildPlan Several = plan("several-arch");
  ASSERT_EQ(Several.Units.size(), 1u);
  EXPECT_EQ(archs(Several.Units[0]), (Words{"sm_80", "sm_90"}));
  // One PTX gives two architectures. A third has only PTX, from which ptxas makes nothing.
  BuildPlan PtxOnly = plan("ptx-only-arch");
  ASSERT_EQ(PtxOnly.Units.size(), 1u);
  const DeviceUnit &U = PtxOnly.Units[0];
  EXPECT_EQ(archs(U), (Words{"sm_80", "sm_86"}));
  EXPECT_EQ(U.Images[0].PtxPath, U.Images[1].PtxPath);
  EXPECT_NE(U.Images[0].CubinPath, U.Images[1].CubinPath);
  EXPECT_EQ(U.FatbinaryArguments.back(),
            "--image3=kind=ptx,sm=100,file=/keep/saxpy.compute_100.ptx");
}

TEST(BuildPlan, unit_virtualArchitectureOnly_hasNoImage) {
  BuildPlan Plan = plan("virtual-only");
  ASSERT_EQ(Plan.Units.size(), 1u);
  EXPECT_TRUE(Plan.Units[0].Images.empty());
  EXPECT_EQ(Plan.Units[0].Source, "src/saxpy.cu");
}

TEST(BuildPlan, ptxWithoutImage_assembled_usesTheUnitsOptions) {
  DeviceUnit U = plan("virtual-only").Units.at(0);
  EXPECT_EQ(sharedPtxasOptions(U), (Words{"-m64"}));
  U.FatbinaryArguments.push_back("--device-c");
  EXPECT_EQ(sharedPtxasOptions(U), (Words{"-m64", "--compile-only"}));
  EXPECT_EQ(sharedPtxasOptions(plan("single").Units.at(0)), (Words{"-arch=sm_90", "-m64"}));
}

TEST(BuildPlan, relocatableCode_read_optionsAreKept) {
  BuildPlan Plan = plan("rdc");
  ASSERT_EQ(Plan.Units.size(), 1u);
  EXPECT_EQ(Plan.Units[0].Images[0].PtxasOptions, (Words{"-arch=sm_90", "-m64", "--compile-only"}));
  EXPECT_EQ(Plan.Units[0].FatbinaryArguments.back(), "--device-c");
}

TEST(BuildPlan, executable_deviceLink_isNotAUnit) {
  for (const char *Name : {"executable", "rdc-executable"}) {
    BuildPlan Plan = plan(Name);
    ASSERT_EQ(Plan.Units.size(), 2u) << Name;
    EXPECT_EQ(Plan.Units[0].Source, "src/saxpy.cu");
    EXPECT_EQ(Plan.Units[0].ObjectPath, "/keep/saxpy.o");
    EXPECT_EQ(Plan.Units[1].Source, "src/scale.cu");
    EXPECT_EQ(Plan.Units[1].FatbinPath, "/keep/scale.fatbin");
    EXPECT_EQ(Plan.Units[1].ObjectPath, "/keep/scale.o");
  }
  EXPECT_EQ(archs(plan("rdc-executable").Units[1]), (Words{"sm_80", "sm_90"}));
}

TEST(BuildPlan, deviceLink_ofAnExecutable_isRead) {
  EXPECT_FALSE(plan("rdc").Link);
  std::optional<PlannedLink> Link = plan("rdc-executable").Link;
  ASSERT_TRUE(Link);
  EXPECT_EQ(Link->FatbinPath, "/keep/app_dlink.fatbin");
  EXPECT_EQ(Link->FatbinaryArguments[4], "-link");
  ASSERT_EQ(Link->Images.size(), 2u);
  EXPECT_EQ(Link->Images[0].Arch, "sm_80");
  EXPECT_EQ(Link->Images[0].CubinPath, "/keep/app_dlink.compute_80.cubin");
  EXPECT_EQ(Link->Images[1].Arch, "sm_90");
  EXPECT_EQ(Link->Images[1].NvlinkArguments,
            (Words{"-m64", "--arch=sm_90", "-L/cuda/bin/../targets/x86_64-linux/lib/stubs",
                   "-L/cuda/bin/../targets/x86_64-linux/lib", "-cpu-arch=X86_64", "-report-arch",
                   "/keep/saxpy.o", "/keep/scale.o", "-lcudadevrt", "--host-ccbin", "gcc"}));
}

TEST(BuildPlan, deviceLink_unknownShape_isIgnored) {
  std::string Text = recorded("dryrun-rdc-executable-13.0.88.txt");
  std::string Link = Text.substr(Text.find("#$ nvlink"));
  llvm::Expected<BuildPlan> Alone = parseDryrun(Link.substr(0, Link.find("#$ g")));
  ASSERT_TRUE(bool(Alone)) << llvm::toString(Alone.takeError());
  EXPECT_TRUE(Alone->Units.empty() && Alone->Link);
  for (const char *Part : {"kind=elf,sm=80", "file=/keep/app_dlink.compute_80", "--arch=sm_90",
                           "--create=\"/keep/app_dlink"}) {
    std::string Edited = Text;
    size_t At = Edited.rfind(Part);
    ASSERT_NE(At, std::string::npos) << Part;
    llvm::Expected<BuildPlan> Plan = parseDryrun(Edited.replace(At, 6, "other="));
    ASSERT_TRUE(bool(Plan)) << llvm::toString(Plan.takeError());
    EXPECT_FALSE(Plan->Link) << Part;
    EXPECT_EQ(Plan->Units.size(), 2u);
  }
}

TEST(BuildPlan, ptxasOptionsAndIdent_read_areSplit) {
  BuildPlan Plan = plan("lineinfo");
  ASSERT_EQ(Plan.Units.size(), 1u);
  EXPECT_EQ(Plan.Units[0].Images[0].PtxasOptions,
            (Words{"-arch=sm_90", "-m64", "-v", "-dlcm=cg", "--generate-line-info"}));
  EXPECT_EQ(Plan.Units[0].FatbinaryArguments[2], "--ident=src/saxpy.cu");
}

TEST(BuildPlan, redirections_withThreads_areNotArguments) {
  BuildPlan Plan = plan("threads");
  ASSERT_EQ(Plan.Units.size(), 1u);
  const DeviceUnit &U = Plan.Units[0];
  EXPECT_EQ(archs(U), (Words{"sm_80", "sm_90a"}));
  EXPECT_EQ(U.Images[1].PtxasOptions, (Words{"-arch=sm_90a", "-m64"}));
  EXPECT_EQ(U.FatbinaryArguments.back(),
            "--image3=kind=elf,sm=90a,file=/keep/saxpy.compute_90a.cubin");
  EXPECT_EQ(U.ObjectPath, "saxpy.o");
}

TEST(BuildPlan, warningsAndEnvironmentFlags_read_areNotSteps) {
  BuildPlan Plan = plan("environment");
  ASSERT_EQ(Plan.Units.size(), 1u);
  EXPECT_EQ(Plan.Units[0].Images[0].PtxasOptions,
            (Words{"-arch=sm_90", "-m64", "-maxrregcount=64", "--generate-line-info"}));
  EXPECT_EQ(Plan.Environment.front(), "_NVVM_BRANCH_=nvvm");
  EXPECT_NE(std::find(Plan.Environment.begin(), Plan.Environment.end(),
                      "CICC_PATH=/cuda/bin/../nvvm/bin"),
            Plan.Environment.end());
}

/// Returns the recorded plan with the first \p From replaced by \p To.
std::string edited(llvm::StringRef From, llvm::StringRef To) {
  std::string Text = recorded("dryrun-single-13.0.88.txt");
  size_t At = Text.find(From);
  EXPECT_NE(At, std::string::npos) << From.str();
  return Text.replace(At, From.size(), To);
}

TEST(BuildPlan, unknownShape_read_isRefused) {
  auto Reason = [](const std::string &Text) {
    llvm::Expected<BuildPlan> Plan = parseDryrun(Text);
    return Plan ? std::string("accepted") : reasonOf(Plan.takeError());
  };
  EXPECT_EQ(Reason(edited("x", "x")), "accepted");
  EXPECT_EQ(Reason(""), "unknown-plan");
  EXPECT_EQ(Reason("nvcc fatal   : Unknown option '-foo'\n"), "unknown-plan");
  EXPECT_EQ(Reason(edited("kind=elf", "kind=nvvm")), "unknown-plan");
  EXPECT_EQ(Reason(edited("file=/keep/saxpy.sm_90.cubin", "file=/keep/other.cubin")),
            "unknown-plan");
  EXPECT_EQ(Reason(edited("-arch=sm_90", "-march=sm_90")), "unknown-plan");
  EXPECT_EQ(Reason(edited("--create=", "--make=")), "unknown-plan");
  EXPECT_EQ(Reason(edited("--orig_src_file_name", "--source")), "unknown-plan");
  EXPECT_EQ(Reason(edited("ptxas -arch=sm_90 -m64  \"/keep/saxpy.ptx\"",
                          "ptxas -arch=sm_90 -m64  \"/keep/saxpy.ptx\" two.ptx")),
            "unknown-plan");
  EXPECT_EQ(Reason(edited("\"/keep/saxpy.cudafe1.cpp\" -o", "\"/keep/saxpy.cpp\" -o")),
            "unknown-plan");
  EXPECT_EQ(Reason(edited("\"src/saxpy.cu\" -o", "\"src/saxpy.cu -o")), "unknown-plan");
}

TEST(BuildPlan, command_split_wordsAreThoseOfTheShell) {
  auto Split = [](llvm::StringRef Line) {
    llvm::Expected<Words> Result = splitCommand(Line, {"A=old", "A=new", "B_1=x y"});
    return Result ? *Result : Words{reasonOf(Result.takeError())};
  };
  EXPECT_EQ(Split("a  b\t'c d' \"e  f\" g\\ h"), (Words{"a", "b", "c d", "e  f", "g h"}));
  EXPECT_EQ(Split(R"(-D "T=\"a\\n\"" '\"' "")"), (Words{"-D", R"(T="a\n")", R"(\")", ""}));
  EXPECT_EQ(Split(R"("$A/bin" $A$B_1 '$A' "\$A" $C)"),
            (Words{"new/bin", "newx y", "$A", "$A", "$C"}));
  EXPECT_EQ(Split("run x > out 2>err y"), (Words{"run", "x", "y"}));
  EXPECT_EQ(Split("a\"> b\"'2>'"), (Words{"a> b2>"}));
  EXPECT_EQ(Split("a \"b"), (Words{"unknown-plan"}));
  EXPECT_EQ(Split("a 'b"), (Words{"unknown-plan"}));
  EXPECT_EQ(Split(""), (Words{}));
}

} // namespace
