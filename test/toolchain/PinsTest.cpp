// Pins by hand: under any spelling of a kernel's name, in a profile that may be missing, and with
// the list of existing names.
#include "BuiltTools.h"

#include "llvm/Support/JSON.h"

using namespace carve;

namespace {

class PinsTest : public BuiltToolsTest {
protected:
  static constexpr char Templates[] = R"(
__device__ float twice(float X) { return X + X; }
template <float (*F)(float), class T>
__global__ void apply(T *Y, const T *X, unsigned N) {
  T Sum[24];
  for (int I = 0; I < 24; ++I)
    Sum[I] = X[(threadIdx.x + I) % N];
  for (unsigned J = 0; J < N; ++J)
    for (int I = 0; I < 24; ++I)
      Sum[I] = F(Sum[I] * Sum[(I + 7) % 24] + X[J]);
  for (int I = 0; I < 24; ++I)
    Y[threadIdx.x + I * N] = Sum[I];
}
template __global__ void apply<twice, float>(float *, const float *, unsigned);
)";
  const Words Object = {"-O3", "-arch=sm_90", "--no-compress", "-c", "apply.cu", "-o", "apply.o"};
  const Words WithProfile = {"CARVE_PROFILE=profile.yaml"};

  void SetUp() override {
    BuiltToolsTest::SetUp();
    if (!IsSkipped())
      write("apply.cu", Templates);
  }
  unsigned regs() {
    ImageKernels Kernels = kernelsOf("apply.o");
    return Kernels.empty() ? 0 : Kernels.begin()->second.Resources.RegsPerThread;
  }
};

} // namespace

TEST_F(PinsTest, spellingOfAPerson_holdsForTheKernel) {
  for (const char *Name :
       {"void apply<&twice(float), float>(float*, float const*, unsigned int)",
        "apply<&(twice(float)), float>(float*, float const*, unsigned int)",
        "apply< &twice( float ), float >( float *, const float *, unsigned )", "/^void apply</"}) {
    SCOPED_TRACE(Name);
    writeProfile(Name, 32);
    build(Object, WithProfile);
    EXPECT_EQ(regs(), 32u) << log();
  }
}

TEST_F(PinsTest, nameOfNoKernel_logSaysWhichWasMeant) {
  writeProfile("apply<twice, float>(float*, unsigned)", 32);
  build(Object, WithProfile);
  EXPECT_TRUE(
      logSays("names no kernel of this unit; did you mean 'void apply<&twice(float), float>("
              "float*, float const*, unsigned int)'?"))
      << log();
}

TEST_F(PinsTest, profileThatIsMissing_isOneWarningAndNvccsObject) {
  build(Object);
  std::string Plain = read("apply.o");
  for (const Words &More : {Words{}, Words{"--carve-profile=nowhere.yaml"}}) {
    Words Arguments = Object;
    Arguments.insert(Arguments.end(), More.begin(), More.end());
    CommandResult R = carveNvcc(Arguments, {"CARVE_PROFILE=nowhere.yaml"});
    EXPECT_TRUE(R.succeeded());
    EXPECT_EQ(R.Stderr, "carve-nvcc: warning: nowhere.yaml: there is no such profile, and none is "
                        "used\n");
    EXPECT_TRUE(read("apply.o") == Plain);
  }
}

TEST_F(PinsTest, profileThatIsMissing_configureStepSaysNothing) {
  write("conftest.cu", Templates);
  build({"-arch=sm_90", "-c", "conftest.cu", "-o", "conftest.o"}, {"CARVE_PROFILE=nowhere.yaml"});
  EXPECT_EQ(carveNvcc({"--version"}, {"CARVE_PROFILE=nowhere.yaml"}).Stderr, "");
}

TEST_F(PinsTest, profileThatTheTuningWrites_isNotMissing) {
  Words Arguments = {"-O3",
                     "-arch=sm_90",
                     "three.cu",
                     "-o",
                     "app",
                     "--carve-profile=new.yaml",
                     "--carve-samples=" CARVE_TEST_INPUTS "/samples/three.samples",
                     "--carve-run=./app"};
  build(Arguments);
  EXPECT_TRUE(exists("new.yaml")) << log();
}

TEST_F(PinsTest, kernels_listsWhatTheStoreKnowsAndWhatIsPinned) {
  build(Object);
  build({"-O3", "-arch=sm_90", "-c", "three.cu", "-o", "sub/three.o"});
  writeProfile("apply<twice, float>(float*, unsigned)", 32);
  write("profile.yaml", read("profile.yaml") + "  - kernel: \"/^void apply</\"\n"
                                               "    variant: {cap: 40}\n");
  CommandResult R = carve({"kernels", "--profile=profile.yaml"});
  EXPECT_TRUE(R.succeeded()) << R.Stderr;
  llvm::StringRef Text = R.Stdout;
  EXPECT_NE(Text.find(path("three.cu") + " (" + path("sub/three.o") + ")\n"), Text.npos)
      << R.Stdout;
  EXPECT_NE(Text.find("  default  -  \"" + std::string(BulkyName) + "\"\n"), Text.npos) << R.Stdout;
  EXPECT_NE(Text.find("  cap 40  profile.yaml, by hand  \"void apply<&"), Text.npos) << R.Stdout;
  EXPECT_NE(Text.find("no kernel is named \"apply<twice, float>(float*, unsigned)\"; did you mean "
                      "\"void apply<&"),
            Text.npos)
      << R.Stdout;
  EXPECT_EQ(carve({"kernels", "--profile=profile.yaml", "--exit-code"}).ExitStatus, 1);
  // A printed name can be used in a pin as it is.
  llvm::Expected<llvm::json::Value> V =
      llvm::json::parse(carve({"kernels", "--format=json", path("sub")}).Stdout);
  ASSERT_TRUE(bool(V)) << llvm::toString(V.takeError());
  const llvm::json::Array &Units = *V->getAsObject()->getArray("units");
  ASSERT_EQ(Units.size(), 1u);
  const llvm::json::Array &Kernels = *Units[0].getAsObject()->getArray("kernels");
  ASSERT_GE(Kernels.size(), 4u);
  for (const llvm::json::Value &K : Kernels) {
    EXPECT_EQ(K.getAsObject()->getString("arch"), "sm_90");
    EXPECT_EQ(K.getAsObject()->getString("from"), "default");
    EXPECT_GT(*K.getAsObject()->getInteger("registers"), 0);
  }
}

TEST_F(PinsTest, kernels_profileThatIsMissing_isAnError) {
  CommandResult R = carve({"kernels", "--profile=nowhere.yaml"});
  EXPECT_EQ(R.ExitStatus, 1);
  EXPECT_EQ(R.Stderr, "carve: error: there is no profile nowhere.yaml\n");
}
