// One committed profile and many people. A tuning changes only what it decides differently, a
// decision that does not hold is ignored with its reason, and every machine builds the same bytes.
#include "BuiltTools.h"
#include "Store/DecisionFiles.h"

#include "Store/ProfileReader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

using namespace carve;

namespace {

const std::string Samples = CARVE_TEST_INPUTS "/samples/three.samples";

// nvcc names kernels without external linkage by the source's path, so this source has none.
constexpr char Program[] = R"(
template <int Values> __global__ void wide(double *Y, const double *X, int N) {
  double A[Values];
#pragma unroll
  for (int I = 0; I < Values; ++I)
    A[I] = X[(threadIdx.x * Values + I) % N];
  for (int Round = 0; Round < N; ++Round)
#pragma unroll
    for (int I = 0; I < Values; ++I)
      A[I] = A[(I + 1) % Values] * 1.0625 + A[I];
#pragma unroll
  for (int I = 0; I < Values; ++I)
    Y[threadIdx.x * Values + I] = A[I];
}
void run(double *Y, const double *X) { wide<40><<<1, 32>>>(Y, X, 8); }
)";
constexpr char Wide[] = "void wide<40>(double*, double const*, int)";

class TeamProfile : public BuiltToolsTest {
protected:
  const Words Object = {"-O3", "-arch=sm_90", "--no-compress", "-c", "three.cu", "-o", "three.o"};
  const Words WithProfile = {"CARVE_PROFILE=profile.yaml"};

  void tune() {
    CommandResult R =
        carve({"tune", "--samples=" + Samples, "--profile=profile.yaml", "--", "./app"});
    EXPECT_TRUE(R.succeeded()) << R.Stderr << log();
  }
  /// Replaces \p From in a file, which must contain it.
  void edit(const std::string &Name, llvm::StringRef From, llvm::StringRef To) {
    std::string Text = read(Name);
    ASSERT_NE(Text.find(From), std::string::npos) << From.str();
    for (size_t At = 0; (At = Text.find(From, At)) != std::string::npos; At += To.size())
      Text.replace(At, From.size(), To);
    write(Name, Text);
  }
  llvm::json::Object diff(const std::string &A, const std::string &B);
  /// Checks that the profile changes nothing, for the reason \p Reason in the log.
  void expectIgnored(const Words &Arguments, llvm::StringRef Reason);
  /// Builds a source in directory \p Dir as the user of another machine would, with all of that
  /// user's files in \p Home. Returns the object.
  std::string buildAs(const std::string &Home, const std::string &Umask, const std::string &Dir,
                      const Words &Options, const std::string &Source = Program);
};

llvm::json::Object TeamProfile::diff(const std::string &A, const std::string &B) {
  CommandResult R = carve({"diff", "--format=json", A, B});
  EXPECT_TRUE(R.succeeded()) << R.Stderr;
  llvm::Expected<llvm::json::Value> Value = llvm::json::parse(R.Stdout);
  if (Value)
    return std::move(*Value->getAsObject());
  ADD_FAILURE() << llvm::toString(Value.takeError());
  return {};
}

void TeamProfile::expectIgnored(const Words &Arguments, llvm::StringRef Reason) {
  build(Arguments, {"CARVE_STORE=" + path("fresh")});
  std::string Before = read("three.o");
  build(Arguments, {"CARVE_STORE=" + path("fresh"), "CARVE_PROFILE=profile.yaml"});
  EXPECT_TRUE(read("three.o") == Before) << log();
  EXPECT_TRUE(logSays("profile.yaml: decision for " + std::string(BulkyName) +
                      " on sm_90 ignored: " + Reason.str()))
      << log();
}

std::string TeamProfile::buildAs(const std::string &Home, const std::string &Umask,
                                 const std::string &Dir, const Words &Options,
                                 const std::string &Source) {
  write(Dir + "/src/team.cu", Source);
  EXPECT_FALSE(llvm::sys::fs::create_directories(path(Home + "/tmp")));
  Words Argv = {"/bin/sh", "-c",
                "umask " + Umask + "; cd " + Dir +
                    " && touch -d @1700000000 src/team.cu && exec \"$@\"",
                "sh", CARVE_NVCC_PROGRAM};
  Argv.insert(Argv.end(), Options.begin(), Options.end());
  Argv.insert(Argv.end(),
              {"-O3", "-arch=sm_90", "--no-compress", "-c", "src/team.cu", "-o", "team.o"});
  CommandResult R = run(Argv, environment({"CARVE_STORE=" + path(Home + "/store"),
                                           "HOME=" + path(Home), "TMPDIR=" + path(Home + "/tmp"),
                                           "CARVE_PROFILE=" + path("profile.yaml")}));
  EXPECT_TRUE(R.succeeded() && R.Stderr.empty()) << R.Stderr;
  std::string Object = read(Dir + "/team.o");
  EXPECT_FALSE(llvm::sys::fs::remove_directories(path(Dir)));
  return Object;
}

} // namespace

TEST_F(TeamProfile, tuning_sameDecisions_changesNoByte) {
  keepKernels({"bulky", "steady"});
  build(Object);
  tune();
  // The first tuning was made long ago, by somebody with slightly different measurements.
  std::string Date = read("profile.yaml");
  Date = Date.substr(Date.find("date: \"") + 7, 20);
  edit("profile.yaml", Date, "2001-02-03T04:05:06Z");
  std::string Before = read("profile.yaml");
  Unit U = store().units().front();
  ASSERT_EQ(llvm::toString(writeDecisions(store(), U.Key, Before)), "");
  tune();
  EXPECT_EQ(read("profile.yaml"), Before);
  EXPECT_EQ(llvm::cantFail(readDecisions(store(), U.Key)), Before);
}

TEST_F(TeamProfile, oneEditedKernel_isOneChangedEntry) {
  keepKernels({"bulky", "steady", "noisy"});
  build(Object);
  tune();
  write("before.yaml", read("profile.yaml"));
  edit("three.cu", "mix<40>(Y, X, N);", "mix<40>(Y, X, N + 1);");
  build(Object);
  tune();
  llvm::json::Object Diff = diff("before.yaml", "profile.yaml");
  EXPECT_EQ(Diff.getInteger("changed"), 1);
  EXPECT_EQ(Diff.getInteger("equal"), 2);
  for (const char *None : {"added", "removed", "remeasured"})
    EXPECT_EQ(Diff.getInteger(None), 0) << None;
  EXPECT_EQ(carve({"diff", "--exit-code", "before.yaml", "profile.yaml"}).ExitStatus, 1);
  EXPECT_EQ(carve({"diff", "--exit-code", "profile.yaml", "profile.yaml"}).ExitStatus, 0);
}

TEST_F(TeamProfile, decision_thatDoesNotHold_isIgnoredWithItsReason) {
  keepKernels({"bulky"});
  build(Object);
  tune();
  Words Lines = Object;
  Lines.push_back("-lineinfo");
  expectIgnored(Lines, "stale: timed with ptxas options '");
  Words Older = Object;
  Older[1] = "-arch=sm_80";
  expectIgnored(Older, "foreign: this unit is compiled for sm_80");
  edit("three.cu", "mix<40>", "mix<39>");
  expectIgnored(Object, "stale: the kernel's code changed");
  edit("three.cu", "bulky", "sturdy");
  expectIgnored(Object, "foreign: names no kernel of this unit");
}

TEST_F(TeamProfile, entries_ofTwoToolkits_coexist) {
  keepKernels({"bulky", "steady"});
  build(Object);
  tune();
  build(Object);
  std::string Tuned = read("three.o");
  // A colleague with an older toolkit committed this profile before.
  std::string Ours = read("profile.yaml");
  edit("profile.yaml", "toolkit: \"13.", "toolkit: \"12.");
  edit("profile.yaml", "  digest: \"", "  digest: \"0");
  write("theirs.yaml", read("profile.yaml"));
  expectIgnored(Object, "stale: timed with toolkit 12.");
  tune();
  write("ours.yaml", Ours);
  EXPECT_TRUE(carve({"merge", "ours.yaml", "theirs.yaml", "-o", "merged.yaml"}).succeeded());
  EXPECT_EQ(diff("merged.yaml", "profile.yaml").getInteger("added"), 0);
  EXPECT_EQ(llvm::cantFail(parseProfile(read("profile.yaml"), "both")).Kernels.size(), 4u);
  build(Object, {"CARVE_STORE=" + path("fresher"), "CARVE_PROFILE=profile.yaml"});
  EXPECT_TRUE(read("three.o") == Tuned) << log();
}

TEST_F(TeamProfile, build_onAnyMachine_hasTheSameBytes) {
  writeProfile(Wide, BulkyCap);
  std::string One = buildAs("ann", "022", "one", {});
  EXPECT_TRUE(One == buildAs("bob", "077", "another/place", {}));
  write("one.o", One);
  EXPECT_EQ(kernelsOf("one.o").begin()->second.Resources.RegsPerThread, BulkyCap);
  write("profile.yaml", "carve-profile: 1\nkernels: []\n");
  write("two.o", buildAs("ann", "022", "one", {}));
  EXPECT_GT(kernelsOf("two.o").begin()->second.Resources.RegsPerThread, BulkyCap);
}

// Debug information of the host names the temporary directory. That of the device names the source
// and its time.
TEST_F(TeamProfile, buildWithDebugInformation_onAnyMachine_hasTheSameDeviceCode) {
  writeProfile(Wide, BulkyCap);
  auto Container = [](const std::string &Object) { return sectionOf(Object, ".nv_fatbin"); };
  EXPECT_TRUE(Container(buildAs("ann", "022", "one", {"-g"})) ==
              Container(buildAs("bob", "077", "another/place", {"-g"})));
  EXPECT_TRUE(buildAs("ann", "022", "one", {"-lineinfo"}) ==
              buildAs("bob", "077", "one", {"-lineinfo"}));
  // Kernels without external linkage are named by the source's path.
  keepKernels({"bulky", "hidden"});
  std::string Three = read("three.cu");
  writeProfile(BulkyName, BulkyCap);
  EXPECT_TRUE(buildAs("ann", "022", "one", {}, Three) == buildAs("bob", "077", "one", {}, Three));
}
