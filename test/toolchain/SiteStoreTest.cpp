// The store of a site: what one user tunes and publishes is in the objects of another, in another
// folder, and make rebuilds them when the site decides otherwise.
#include "BuiltTools.h"

#include "Store/DecisionFiles.h"
#include "Store/ProfileReader.h"

#include "llvm/Support/Program.h"

#include <unistd.h>

using namespace carve;

namespace {

class SiteStore : public BuiltToolsTest {
protected:
  const Words Object = {"-O3", "-arch=sm_90", "--no-compress", "-c",  "three.cu",
                        "-o",  "three.o",     "-MD",           "-MF", "three.d"};
  Words user() { return {"CARVE_STORE=" + path("user"), "CARVE_STORE_SITE=" + path("site")}; }

  /// Compiles and tunes with the store of this fixture, as the one who looks after the site does.
  void tune() {
    build(Object);
    CommandResult R =
        carve({"tune", "--samples=" CARVE_TEST_INPUTS "/samples/three.samples", "--", "./app"});
    ASSERT_TRUE(R.succeeded()) << R.Stderr << log();
  }
  void publish() {
    CommandResult R = carve({"store", "publish", "--to=" + path("site")});
    EXPECT_TRUE(R.succeeded()) << R.Stderr << log();
    R = carve({"store", "verify", "--site"}, user());
    EXPECT_TRUE(R.succeeded()) << R.Stdout << R.Stderr;
  }
  /// Gives the fixture's decision about bulky another cap and the latest date.
  void decideAnew(unsigned Cap, const std::string &Date) {
    std::vector<Unit> Units = store().units();
    ASSERT_EQ(Units.size(), 1u);
    auto Text = llvm::cantFail(readDecisions(store(), Units.front().Key));
    Profile P = llvm::cantFail(parseProfile(*Text, "decisions"));
    for (Decision &D : P.Kernels) {
      D.Variant = {};
      D.Variant.Cap = Cap;
      D.Entries.clear();
      D.Basis->Date = Date;
      D.Basis->CodeDigest.clear();
    }
    ASSERT_EQ(llvm::toString(writeDecisions(store(), Units.front().Key, printProfile(P))), "");
  }
  unsigned bulkyRegs() { return kernelsOf("three.o")[Bulky].Resources.RegsPerThread; }

  /// Runs make with the user's stores, and returns whether it compiled.
  bool make() {
    const auto Before = read("calls");
    CommandResult R = run({"make", "-s"}, environment(user()));
    EXPECT_TRUE(R.succeeded()) << R.Stdout << R.Stderr << log();
    return read("calls") != Before;
  }
};

} // namespace

TEST_F(SiteStore, decisionOfTheSite_isInTheObjectOfAnotherUser) {
  keepKernels({"bulky"});
  tune();
  build(Object);
  const unsigned Tuned = bulkyRegs();
  publish();
  buildPlain({"-O3", "-arch=sm_90", "--no-compress", "-c", "three.cu", "-o", "plain.o"});
  ASSERT_NE(kernelsOf("plain.o")[Bulky].Resources.RegsPerThread, Tuned);
  // Another folder, so that the unit has another key.
  ASSERT_FALSE(llvm::sys::fs::create_directory(path("other")));
  write("other/three.cu", read("three.cu"));
  Words There = {"-O3", "-arch=sm_90", "--no-compress", "-c", "other/three.cu", "-o", "three.o"};
  build(There, user());
  EXPECT_EQ(bulkyRegs(), Tuned);
  CommandResult R = carve({"kernels"}, user());
  EXPECT_NE(R.Stdout.find("  site  \"" + std::string(BulkyName)), std::string::npos) << R.Stdout;
  // A site that is gone changes nothing but the code.
  ASSERT_FALSE(llvm::sys::fs::rename(path("site"), path("away")));
  build(There, user());
  EXPECT_NE(bulkyRegs(), Tuned);
  EXPECT_TRUE(logSays("site's store is not used"));
}

TEST_F(SiteStore, siteDecidesAnew_makeRebuildsThatObjectOnce) {
  if (!llvm::sys::findProgramByName("make"))
    GTEST_SKIP() << "no make here";
  keepKernels({"bulky"});
  tune();
  publish();
  write("calls", "");
  std::string Command = CARVE_NVCC_PROGRAM;
  for (const std::string &Word : Object)
    Command += " " + Word;
  write("Makefile",
        "three.o: three.cu\n\t@echo compiled >>calls\n\t@" + Command + "\n-include three.d\n");
  EXPECT_TRUE(make());
  const unsigned First = bulkyRegs();
  EXPECT_NE(read("three.d").find("/site/published/"), std::string::npos) << read("three.d");
  EXPECT_FALSE(make());
  ::usleep(50000);
  publish(); // Nothing new.
  EXPECT_FALSE(make());
  constexpr unsigned OtherCap = BulkyCap + 8;
  decideAnew(OtherCap, "2099-01-01T00:00:00Z");
  publish();
  EXPECT_TRUE(make());
  EXPECT_TRUE(logSays("made from the store")) << log();
  EXPECT_NE(bulkyRegs(), First);
  EXPECT_LE(bulkyRegs(), OtherCap);
  EXPECT_FALSE(make());
}
