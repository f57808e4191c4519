#include "Tune/Variants/FlavourModules.h"

#include "Support/Error.h"

#include <gtest/gtest.h>

using namespace carve;

namespace {

/// A job of one module, whose front ends end when the test says so.
class FlavourModulesTest : public testing::Test {
protected:
  FlavourModulesTest() {
    Sources.Modules.resize(1);
    Sources.Modules[0].InJob = 0;
    Context.FlavourPtx = [this](const Unit &, const UnitImage &,
                                const FrontEndSetting &S) -> llvm::Expected<std::string> {
      ++Calls;
      if (S == Slow) {
        Command Wait;
        Wait.Argv = {"sleep", "60"};
        if (llvm::Expected<CommandResult> R = runChecked(Abandonable, Wait); !R)
          return R.takeError();
      }
      if (S == Refused)
        return unsupported("no-option", "cicc does not take it");
      return std::string(".version 8.0\n.target sm_90\n.address_size 64\n");
    };
  }

  static FlavourModules::Until now() { return std::chrono::steady_clock::now(); }

  const FrontEndSetting Slow{32}, Quick{40}, Refused{48};
  std::atomic<int> Calls = 0;
  ProcessRunner Runner;
  AbandonableRunner Abandonable{Runner};
  JobSources Sources;
  TuningOptions Options;
  UnitStore Store{""};
  Toolchain T;
  JobContext Context{Store, T, Runner, Options, {}, silentProgress(), &Abandonable};
};

} // namespace

TEST_F(FlavourModulesTest, slowFrontEnd_isPendingAndTheOthersAreReady) {
  FlavourModules Flavours(Sources, Context);
  Flavours.prepare({{0, Slow}}, now());
  Flavours.prepare({{0, Quick}, {0, Refused}});
  EXPECT_FALSE(Flavours.isReady({0, Slow}));
  EXPECT_TRUE(Flavours.isReady({0, Quick}));
  EXPECT_TRUE(bool(Flavours.find(0, Quick)));
  for (const auto &[Setting, Why] :
       {std::pair(Slow, "was not made"), {Refused, "cicc does not take it"}}) {
    llvm::Expected<const PtxModule *> Found = Flavours.find(0, Setting);
    ASSERT_FALSE(bool(Found));
    EXPECT_NE(llvm::toString(Found.takeError()).find(Why), std::string::npos);
  }
  Flavours.prepare({{0, Quick}, {0, Refused}});
  EXPECT_EQ(Calls, 3) << "each is made once";
}

TEST_F(FlavourModulesTest, abandoned_endsWhatRunsAndKeepsWhatIsReady) {
  FlavourModules Flavours(Sources, Context);
  Flavours.prepare({{0, Slow}}, now());
  Flavours.prepare({{0, Quick}});
  auto Begin = std::chrono::steady_clock::now();
  Flavours.abandon();
  EXPECT_LT(secondsSince(Begin), 30);
  EXPECT_TRUE(Flavours.isReady({0, Quick}));
  EXPECT_FALSE(Flavours.isReady({0, Slow}));
}
