// These tests must pass with every supported release of nvcc; test/toolkits/run runs them with
// several. Releases differ in the shape of a dryrun, in options, and in what the front end makes.
#include "ComparedCommands.h"
#include "Store/StoreUpkeep.h"

#include "Nvcc/KeptCompile.h"

using namespace carve;

namespace {

class Toolkit : public ComparedCommandsTest {
protected:
  static constexpr char BulkyAt[] = "carve-profile: 1\nkernels:\n"
                                    "  - kernel: \"bulky(double*, double const*, int)\"\n"
                                    "    variant: {cap: 64, frontend-cap: 255}\n";
};

const std::string Sm90 = "-arch=sm_90";

const Style Styles[] = {
    {"object", {Sm90, "-O3", "-c", "three.cu"}},
    {"several",
     {"-gencode=arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=[sm_90,compute_90]",
      "-lineinfo", "-c", "three.cu"}},
    {"relocatable", {Sm90, "-rdc=true", "-MD", "-c", "three.cu"}},
    {"virtual", {"-arch=compute_90", "-c", "three.cu"}},
};

} // namespace

TEST_F(Toolkit, commands_withoutADecision_leaveWhatNvccLeaves) {
  keepKernels({"bulky", "hidden"});
  for (const Style &S : Styles) {
    EXPECT_TRUE(expectSame(Tools.Nvcc, S)) << S.Name;
    std::vector<Unit> Units = store().units();
    ASSERT_EQ(Units.size(), 1u) << S.Name << "\n" << log();
    EXPECT_EQ(Units.front().Source, "three.cu");
    EXPECT_TRUE(storeStats(store()).Passthroughs.empty()) << S.Name << "\n" << log();
  }
}

TEST_F(Toolkit, program_ofRelocatableCode_isLinkedAndRecorded) {
  EXPECT_TRUE(expectSame(Tools.Nvcc, {"link",
                                      {Sm90, "-Xlinker=--build-id=none", "-rdc=true", "-DWHOLE",
                                       "main.cu", "sub/other.cu", "host.cpp", "-o", "app"}}));
  EXPECT_EQ(storeStats(store()).Links, 1u) << log();
}

TEST_F(Toolkit, pinnedCaps_ofBothCompilers_areEmitted) {
  const Words Command = {Sm90, "--no-compress", "-c", "three.cu", "-o", "three.o"};
  build(Command);
  ImageKernels Free = kernelsOf("three.o");
  ASSERT_GT(Free.at(Bulky).Resources.RegsPerThread, BulkyCap);
  write("profile.yaml", BulkyAt);
  for (const char *From : {"made from the store", "compiled anew"}) {
    build(Command, {"CARVE_PROFILE=profile.yaml"});
    EXPECT_TRUE(logSays(From)) << log();
    ImageKernels Tuned = kernelsOf("three.o");
    EXPECT_EQ(Tuned.at(Bulky).Resources.RegsPerThread, BulkyCap) << log();
    expectSameCode(Free, Tuned, {Bulky});
    ASSERT_FALSE(llvm::sys::fs::remove(path("three.o")));
  }
}

TEST_F(Toolkit, points_ofASource_areFound) {
  CommandResult R = carve({"points", "--arch=sm_90", "three.cu"});
  EXPECT_TRUE(R.succeeded()) << R.Stderr;
  EXPECT_NE(R.Stdout.find("nvcc " + llvm::cantFail(nvccVersion(Tools, Runner))), std::string::npos)
      << R.Stdout;
  EXPECT_NE(R.Stdout.find("region 24 to "), std::string::npos) << R.Stdout;
}
