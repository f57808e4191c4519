#include "RealNvcc.h"

#include "Nvcc/BuildPlan.h"

using namespace carve;

namespace {

class NvccPlan : public RealNvccTest {
protected:
  /// Returns the plan of \p Arguments, and carries it out with its files kept in keep/.
  BuildPlan keptPlan(Words Arguments) {
    EXPECT_FALSE(llvm::sys::fs::create_directories(path("keep")));
    Arguments.insert(Arguments.end(), {"--keep", "--keep-dir", "keep"});
    compile(Arguments);
    Arguments.push_back("--dryrun");
    llvm::Expected<BuildPlan> Plan = parseDryrun(nvcc(Arguments).Stderr);
    if (Plan)
      return *Plan;
    ADD_FAILURE() << llvm::toString(Plan.takeError());
    return {};
  }

  /// Checks that every file of \p U is where the plan says, and that ptxas and fatbinary, run by
  /// the plan, make the same bytes again.
  void expectReproducible(const DeviceUnit &U, const Words &Environment) {
    EXPECT_TRUE(exists(U.ObjectPath)) << U.ObjectPath;
    for (const DeviceImage &I : U.Images) {
      Words Ptxas = {Tools.tool("ptxas")};
      Ptxas.insert(Ptxas.end(), I.PtxasOptions.begin(), I.PtxasOptions.end());
      Ptxas.insert(Ptxas.end(), {I.PtxPath, "-o", "again.cubin"});
      EXPECT_TRUE(run(Ptxas, Environment).succeeded());
      EXPECT_TRUE(read("again.cubin") == read(I.CubinPath)) << I.CubinPath;
    }
    std::string Kept = read(U.FatbinPath);
    Words Fatbinary = {Tools.tool("fatbinary")};
    for (const std::string &A : U.FatbinaryArguments)
      Fatbinary.push_back(llvm::StringRef(A).starts_with("--create=") ? "--create=again.fatbin"
                                                                      : A);
    CommandResult R = run(Fatbinary, Environment);
    EXPECT_TRUE(R.succeeded()) << R.Stderr;
    EXPECT_TRUE(read("again.fatbin") == Kept);
  }
};

TEST_F(NvccPlan, plan_severalArchitectures_isReproducible) {
  BuildPlan Plan = keptPlan({"-gencode", "arch=compute_80,code=sm_80", "-gencode",
                             "arch=compute_90,code=[sm_90,compute_90]", "-lineinfo", "-std=c++17",
                             "-t", "2", "-c", "main.cu"});
  ASSERT_EQ(Plan.Units.size(), 1u);
  EXPECT_EQ(Plan.Units[0].Source, "main.cu");
  EXPECT_EQ(Plan.Units[0].ObjectPath, "main.o");
  EXPECT_EQ(Plan.Units[0].Images.size(), 2u);
  expectReproducible(Plan.Units[0], Plan.Environment);
}

TEST_F(NvccPlan, plan_relocatableCode_isReproducible) {
  BuildPlan Plan = keptPlan({"-arch=sm_90", "-dc", "sub/other.cu", "-o", "o.o", "-maxrregcount=32",
                             "-Xfatbin", "-compress-all"});
  ASSERT_EQ(Plan.Units.size(), 1u);
  EXPECT_EQ(Plan.Units[0].Source, "sub/other.cu");
  expectReproducible(Plan.Units[0], Plan.Environment);
}

TEST_F(NvccPlan, plan_oneStepExecutable_isReproducible) {
  BuildPlan Plan = keptPlan(
      {"-arch=sm_90", "-rdc=true", "-DWHOLE", "main.cu", "sub/other.cu", "host.cpp", "-o", "app"});
  ASSERT_EQ(Plan.Units.size(), 2u);
  EXPECT_EQ(Plan.Units[0].ObjectPath, "keep/main.o");
  for (const DeviceUnit &U : Plan.Units)
    expectReproducible(U, Plan.Environment);
}

TEST_F(NvccPlan, plan_virtualAndRealArchitecture_hasOneImage) {
  BuildPlan Plan = keptPlan({"-gencode", "arch=compute_90,code=sm_90", "-gencode",
                             "arch=compute_100,code=compute_100", "-c", "main.cu"});
  ASSERT_EQ(Plan.Units.size(), 1u);
  ASSERT_EQ(Plan.Units[0].Images.size(), 1u);
  EXPECT_EQ(Plan.Units[0].Images[0].Arch, "sm_90");
  expectReproducible(Plan.Units[0], Plan.Environment);
}

} // namespace
