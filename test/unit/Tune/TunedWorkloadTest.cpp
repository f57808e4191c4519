#include "Tune/TunedWorkload.h"

#include "Captures/File/CaptureFile.h"
#include "Support/Files.h"
#include "unit/ResultTesting.h"

#include <sys/stat.h>

using namespace carve;

namespace {

class TunedWorkloadTest : public testing::Test {
protected:
  std::string path(const std::string &Name) const { return Dir.path() + "/" + Name; }
  void write(const std::string &Name, const std::string &Text) {
    ASSERT_FALSE(llvm::errorToBool(writeFileAtomically(path(Name), Text)));
  }
  void writeProgram(const std::string &Text) {
    write("app", Text);
    ASSERT_EQ(::chmod(path("app").c_str(), 0755), 0);
  }
  void writeCapture(const std::string &Kernel) {
    CaptureWriter W = llvm::cantFail(CaptureWriter::create(path("k.carvecap")));
    Capture C;
    C.Kernel = Kernel;
    ASSERT_EQ(messageOf(W.finish(C)), "");
  }
  TunedWorkload command() {
    WorkloadSpec Spec;
    Spec.Argv = {"./app", "4096"};
    Spec.Dir = Dir.path();
    Spec.OutputFiles = {"out.txt"};
    Spec.Environment = {"OMP_NUM_THREADS=2", "VIRTUAL_ENV"};
    TunedWorkload W = commandWorkload(Spec);
    W.Date = "2026-01-02T00:00:00Z";
    W.Domain = LaunchDomain::Traced;
    W.Kernels = {{"unit1", "k(int)", "_Z1ki", 100}};
    return W;
  }

  TempDir Dir = llvm::cantFail(TempDir::create("carve-workload"));
  UnitStore Store{path("store")};
};

} // namespace

TEST_F(TunedWorkloadTest, record_comesBackAsItWas) {
  writeProgram("one");
  rememberWorkload(command(), Store);
  std::vector<TunedWorkload> Read = tunedWorkloads(Store);
  ASSERT_EQ(Read.size(), 1u);
  const TunedWorkload &W = Read.front();
  EXPECT_EQ(W.Argv, (std::vector<std::string>{"./app", "4096"}));
  EXPECT_EQ(W.Directory, Dir.path());
  EXPECT_EQ(W.OutputFiles, std::vector<std::string>{"out.txt"});
  EXPECT_EQ(W.Environment, (std::vector<std::string>{"OMP_NUM_THREADS=2", "VIRTUAL_ENV"}));
  EXPECT_EQ(W.Domain, LaunchDomain::Traced);
  ASSERT_TRUE(W.Program);
  EXPECT_EQ(W.Program->Path, path("app"));
  ASSERT_EQ(W.Kernels.size(), 1u);
  EXPECT_EQ(W.Kernels.front().GpuNs, 100);
  EXPECT_EQ(W.text(), "./app 4096");
}

TEST_F(TunedWorkloadTest, secondTuningOfTheSameCommand_keepsItsOtherKernels) {
  TunedWorkload W = command();
  rememberWorkload(W, Store);
  W.Date = "2026-01-03T00:00:00Z";
  W.Kernels = {{"unit2", "j(int)", "_Z1ji", 50}};
  rememberWorkload(W, Store);
  W.Kernels.clear();
  W.Date = "2026-01-04T00:00:00Z";
  rememberWorkload(W, Store);
  std::vector<TunedWorkload> Read = tunedWorkloads(Store);
  ASSERT_EQ(Read.size(), 1u);
  EXPECT_EQ(Read.front().Date, "2026-01-03T00:00:00Z") << "without kernels nothing is written";
  EXPECT_EQ(Read.front().Kernels.size(), 2u);
  W.Argv = {"./app", "8192"};
  W.Kernels = {{"unit2", "j(int)", "_Z1ji", 50}};
  rememberWorkload(W, Store);
  Read = tunedWorkloads(Store);
  ASSERT_EQ(Read.size(), 2u) << "another command";
  EXPECT_EQ(Read.front().Argv.back(), "8192") << "the last one comes first";
}

TEST_F(TunedWorkloadTest, variableThatNoTuningKeeps_refusesTheRecord) {
  TunedWorkload W = command();
  W.Environment = {"LD_PRELOAD=other.so"};
  rememberWorkload(W, Store);
  EXPECT_TRUE(tunedWorkloads(Store).empty());
}

TEST_F(TunedWorkloadTest, storeOfASite_givesNoWorkloads) {
  rememberWorkload(command(), Store);
  UnitStore Below(path("own"), Store.root());
  ASSERT_NE(Below.site(), nullptr);
  EXPECT_TRUE(tunedWorkloads(Below).empty());
}

TEST_F(TunedWorkloadTest, programThatWasBuiltAgain_isNamedAndNotGone) {
  writeProgram("one");
  TunedWorkload W = command();
  EXPECT_EQ(whyGone(W), "");
  EXPECT_EQ(programChange(W), "");
  const std::string Expected = W.Program->Digest;
  writeProgram("two");
  EXPECT_EQ(whyGone(W), "");
  EXPECT_NE(programChange(W).find("expected " + Expected), std::string::npos) << programChange(W);
  ASSERT_EQ(::unlink(path("app").c_str()), 0);
  EXPECT_EQ(whyGone(W), "the program " + path("app") + " does not exist any more");
  W.Directory = path("gone");
  EXPECT_EQ(whyGone(W), "the folder " + path("gone") + " does not exist any more");
}

TEST_F(TunedWorkloadTest, captureWithAnotherContent_isGone) {
  writeCapture("_Z1ki");
  TunedWorkload W = llvm::cantFail(capturesWorkload({"k.carvecap"}, Dir.path()));
  ASSERT_EQ(W.Captures.size(), 1u);
  EXPECT_EQ(W.Captures.front().Path, path("k.carvecap"));
  EXPECT_EQ(W.text(), "k.carvecap");
  EXPECT_EQ(whyGone(W), "");
  writeCapture("_Z1ki");
  EXPECT_EQ(whyGone(W), "") << "the content is the same";
  writeCapture("_Z1ji");
  EXPECT_NE(whyGone(W).find("is another one than was tuned: digest"), std::string::npos)
      << whyGone(W);
  ASSERT_EQ(::unlink(path("k.carvecap").c_str()), 0);
  EXPECT_EQ(whyGone(W), "the capture " + path("k.carvecap") + " does not exist any more");
}
