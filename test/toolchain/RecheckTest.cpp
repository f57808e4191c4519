// Earlier decisions are timed again. Recorded samples take the place of the GPU: in three.samples,
// bulky is fastest at 64 registers.
#include "BuiltTools.h"
#include "Ptx/PtxModule.h"
#include "Store/DecisionFiles.h"
#include "Store/ProfileReader.h"
#include "Store/StoreUpkeep.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <filesystem>

using namespace carve;

namespace {

class Rechecked : public BuiltToolsTest {
protected:
  const Words Object = {"-O3", "-arch=sm_90", "--no-compress", "-c", "three.cu", "-o", "three.o"};

  /// Builds bulky and tunes it.
  void tuneBulky();
  /// Writes the samples with the times of bulky at 64 registers multiplied by \p Factor, and
  /// returns the option that names them.
  std::string samplesWith(double Factor);
  unsigned bulkyRegs() { return kernelsOf("three.o")[Bulky].Resources.RegsPerThread; }
  std::string decisionText() {
    return llvm::cantFail(readDecisions(store(), store().units().front().Key)).value_or("");
  }
  /// Makes a file that can be the program ./app; the samples take the place of its runs.
  void writeApp(const std::string &Text) {
    write("app", Text);
    std::filesystem::permissions(path("app"), std::filesystem::perms::owner_all);
  }
  /// Makes the decision in the store one of nvcc \p Toolkit for the same PTX.
  void backdateTo(const std::string &Toolkit);
};

void Rechecked::tuneBulky() {
  keepKernels({"bulky"});
  build(Object);
  CommandResult R = carve({"tune", samplesWith(1), "--", "./app"});
  ASSERT_TRUE(R.succeeded()) << R.Stderr << log();
  build(Object);
  ASSERT_EQ(bulkyRegs(), 64u) << log();
}

std::string Rechecked::samplesWith(double Factor) {
  std::string Text =
      llvm::cantFail(readFile(CARVE_TEST_INPUTS "/samples/three.samples", FileLimit::Record));
  std::string Changed;
  for (llvm::StringRef Line : llvm::split(Text, '\n')) {
    auto [Head, Ns] = Line.rsplit('\t');
    uint64_t Before = 0;
    if (Head == "sample\t" + std::string(Bulky) + "\tr64" && !Ns.getAsInteger(10, Before))
      Changed += Head.str() + "\t" + std::to_string(uint64_t(double(Before) * Factor)) + "\n";
    else if (!Line.empty())
      Changed += Line.str() + "\n";
  }
  write("changed.samples", Changed);
  return "--samples=" + path("changed.samples");
}

void Rechecked::backdateTo(const std::string &Toolkit) {
  UnitStore Store = store();
  Unit U = Store.units().front();
  const UnitImage &Image = U.Images.front();
  PtxModule Ptx = llvm::cantFail(PtxModule::parse(llvm::cantFail(Store.blob(Image.PtxDigest))));
  Profile P = llvm::cantFail(parseProfile(decisionText(), "decisions"));
  ASSERT_EQ(P.Kernels.size(), 1u);
  Decision &D = P.Kernels.front();
  D.Basis->Toolkit = Toolkit;
  D.Digest = decisionDigest(llvm::cantFail(Ptx.kernelDigest(Bulky)), Image.Arch, Toolkit,
                            Image.PtxasOptions);
  ASSERT_FALSE(llvm::errorToBool(writeDecisions(Store, U.Key, printProfile(P))));
}

} // namespace

TEST_F(Rechecked, decisionThatWinsAgain_holdsAndNothingIsWritten) {
  tuneBulky();
  std::string Before = decisionText();
  uint64_t Reports = storeStats(store()).Reports;
  CommandResult R = carve({"recheck", samplesWith(1), "--", "./app"});
  EXPECT_EQ(R.ExitStatus, 0) << R.Stdout << R.Stderr << log();
  EXPECT_NE(R.Stdout.find("1 decision(s), 1 hold, 0 lost"), std::string::npos) << R.Stdout;
  EXPECT_NE(R.Stdout.find("cap 64"), std::string::npos) << R.Stdout;
  R = carve({"recheck", "--update", samplesWith(1), "--", "./app"});
  EXPECT_EQ(R.ExitStatus, 0) << R.Stdout << R.Stderr << log();
  EXPECT_EQ(decisionText(), Before);
  EXPECT_EQ(storeStats(store()).Reports, Reports) << "the report of the tuning is the last one";
}

TEST_F(Rechecked, decisionThatIsSlowerNow_isLostAndLeftOnlyWithUpdate) {
  tuneBulky();
  std::string Before = decisionText(), Slower = samplesWith(1.5);
  CommandResult R = carve({"recheck", "--format=json", Slower, "--", "./app"});
  EXPECT_EQ(R.ExitStatus, 1) << R.Stdout << R.Stderr;
  EXPECT_EQ(R.Stderr, "");
  auto Json = llvm::json::parse(R.Stdout);
  ASSERT_TRUE(bool(Json)) << R.Stdout;
  const llvm::json::Object &Kernel =
      *Json->getAsObject()->getArray("kernels")->front().getAsObject();
  EXPECT_EQ(Kernel.getString("verdict"), "lost");
  EXPECT_NEAR(*Kernel.getObject("then")->getNumber("median"), 0.8, 0.01);
  EXPECT_NEAR(*Kernel.getObject("now")->getNumber("median"), 1.2, 0.01);
  EXPECT_EQ(decisionText(), Before);
  R = carve({"recheck", "--update", Slower, "--", "./app"});
  EXPECT_EQ(R.ExitStatus, 1) << R.Stdout << R.Stderr;
  build(Object);
  EXPECT_GT(bulkyRegs(), 64u) << "nvcc's code is back: " << log();
}

TEST_F(Rechecked, decisionOfAnotherToolkit_isTakenOverOnceItHolds) {
  tuneBulky();
  backdateTo("12.9.41");
  build(Object);
  ASSERT_GT(bulkyRegs(), 64u) << "it was timed with another nvcc: " << log();
  CommandResult R = carve({"recheck", "--update", samplesWith(1), "--", "./app"});
  EXPECT_EQ(R.ExitStatus, 0) << R.Stdout << R.Stderr << log();
  EXPECT_NE(R.Stdout.find("1 hold"), std::string::npos) << R.Stdout;
  EXPECT_NE(R.Stdout.find("timed with toolkit 12.9.41"), std::string::npos) << R.Stdout;
  build(Object);
  EXPECT_EQ(bulkyRegs(), 64u) << log();
}

TEST_F(Rechecked, kernelOfHalfAPercent_isTimedAsATuningDoes) {
  tuneBulky();
  std::string Option = samplesWith(1), Text = read("changed.samples");
  // The kernel of a library takes most of the time now.
  const std::string Before = "\t10\t400000\t39000\t";
  size_t At = Text.find(Before);
  ASSERT_NE(At, std::string::npos);
  write("changed.samples", Text.replace(At, Before.size(), "\t10\t1300000000\t130000000\t"));
  CommandResult R = carve({"recheck", Option, "--", "./app"});
  EXPECT_NE(R.Stdout.find("1 decision(s)"), std::string::npos) << R.Stdout << R.Stderr << log();
}

TEST_F(Rechecked, programWithoutDecisions_saysSo) {
  keepKernels({"bulky"});
  build(Object);
  CommandResult R = carve({"recheck", samplesWith(1), "--", "./app"});
  EXPECT_EQ(R.ExitStatus, 0) << R.Stderr << log();
  EXPECT_NE(R.Stdout.find("no decision on a kernel that was launched"), std::string::npos)
      << R.Stdout;
}

TEST_F(Rechecked, wholeStore_isTimedWithTheProgramOfItsTuning) {
  writeApp("the program that was tuned");
  tuneBulky();
  CommandResult R = carve({"recheck", samplesWith(1)});
  EXPECT_EQ(R.ExitStatus, 0) << R.Stdout << R.Stderr << log();
  EXPECT_NE(R.Stdout.find("1 decision(s) hold, 0 lost"), std::string::npos) << R.Stdout;
  EXPECT_NE(R.Stdout.find("./app on NVIDIA H200: 1 decision(s), 1 hold"), std::string::npos)
      << R.Stdout;
  EXPECT_EQ(R.Stdout.find("is another file"), std::string::npos) << R.Stdout;
  writeApp("the program of a later build");
  R = carve({"recheck", samplesWith(1)});
  EXPECT_EQ(R.ExitStatus, 0) << R.Stdout << R.Stderr;
  EXPECT_NE(R.Stdout.find("app is another file than was tuned: digest "), std::string::npos)
      << R.Stdout;
}

TEST_F(Rechecked, wholeStoreWithALostDecision_givesItNvccsCodeWithUpdate) {
  writeApp("app");
  tuneBulky();
  CommandResult R = carve({"recheck", "--update", "--format=json", samplesWith(1.5)});
  EXPECT_EQ(R.ExitStatus, 1) << R.Stdout << R.Stderr << log();
  auto Json = llvm::json::parse(R.Stdout);
  ASSERT_TRUE(bool(Json)) << R.Stdout;
  const llvm::json::Object &Workload =
      *Json->getAsObject()->getArray("workloads")->front().getAsObject();
  EXPECT_EQ(Workload.getArray("kernels")->front().getAsObject()->getString("verdict"), "lost");
  EXPECT_EQ(Workload.getString("directory"), llvm::StringRef(path("")).rtrim('/'));
  build(Object);
  EXPECT_GT(bulkyRegs(), 64u) << "nvcc's code is back: " << log();
  R = carve({"recheck", samplesWith(1)});
  EXPECT_EQ(R.ExitStatus, 0) << R.Stdout << R.Stderr;
  EXPECT_NE(R.Stdout.find("0 decision(s) hold, 0 lost, 0 uncertain, 0 untimed"), std::string::npos)
      << R.Stdout;
}

TEST_F(Rechecked, wholeStoreWhoseWorkloadsAreGoneOrUnknown_namesTheReason) {
  writeApp("app");
  tuneBulky();
  std::filesystem::remove(path("app"));
  CommandResult R = carve({"recheck", samplesWith(1)});
  EXPECT_NE(R.ExitStatus, 0) << "nothing was timed";
  EXPECT_NE(R.Stdout.find("the program " + path("app") + " does not exist any more"),
            std::string::npos)
      << R.Stdout << R.Stderr;
  std::filesystem::remove_all(path("store/workloads"));
  R = carve({"recheck", samplesWith(1)});
  EXPECT_NE(R.ExitStatus, 0);
  EXPECT_NE(R.Stdout.find("the store does not know its workload"), std::string::npos)
      << R.Stdout << R.Stderr;
}

TEST_F(Rechecked, workloads_areNotPublished) {
  writeApp("app");
  tuneBulky();
  std::filesystem::create_directory(path("site"));
  CommandResult R = carve({"store", "publish", "--to=" + path("site")});
  ASSERT_TRUE(R.succeeded()) << R.Stderr;
  EXPECT_TRUE(std::filesystem::exists(path("site/published")));
  EXPECT_TRUE(std::filesystem::exists(path("store/workloads")));
  EXPECT_FALSE(std::filesystem::exists(path("site/workloads")));
}
