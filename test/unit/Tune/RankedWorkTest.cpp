#include "Tune/RankedWork.h"

#include "Support/Error.h"
#include "Support/Files.h"
#include "unit/ResultTesting.h"

#include <atomic>
#include <thread>

using namespace carve;
using namespace std::chrono_literals;

namespace {

class RankedWorkTest : public testing::Test {
protected:
  static LaunchedRank rank(unsigned Number, const std::string &Launch = "job 1") {
    return {Number, 4, "SLURM_PROCID", Launch};
  }
  /// Runs rank \p Number in this process, and returns its message.
  std::string messageOfRank(unsigned Number, bool Fails = false,
                            const std::string &Launch = "job 1") {
    UnitStore Store(Dir.path() + "/store");
    return messageOf(onceForAllRanks(
        rank(Number, Launch), Words, Store,
        [&]() -> llvm::Error {
          ++Calls;
          std::this_thread::sleep_for(50ms);
          return Fails ? malformed("it failed") : llvm::Error::success();
        },
        Patience));
  }

  TempDir Dir = llvm::cantFail(TempDir::create("carve-ranks"));
  std::vector<std::string> Words = {"--", "./app"};
  RankPatience Patience{5ms, 10s};
  std::atomic<int> Calls{0};
};

} // namespace

TEST_F(RankedWorkTest, fourRanks_workIsDoneOnceAndAllSucceed) {
  std::vector<std::thread> Ranks;
  for (unsigned Number : {3u, 1u, 0u, 2u})
    Ranks.emplace_back([&, Number] { EXPECT_EQ(messageOfRank(Number), "") << Number; });
  for (std::thread &Rank : Ranks)
    Rank.join();
  EXPECT_EQ(Calls, 1);
}

TEST_F(RankedWorkTest, rank0Fails_allFail) {
  std::thread Other([&] {
    EXPECT_EQ(messageOfRank(1),
              "rank 1 of 4 (SLURM_PROCID): rank 0 has failed, and its message says why");
  });
  EXPECT_EQ(messageOfRank(0, /*Fails=*/true), "it failed");
  Other.join();
  EXPECT_EQ(Calls, 1);
}

TEST_F(RankedWorkTest, rank0NeverComes_othersEndAndSayHowToWorkAlone) {
  Patience.Quiet = 50ms;
  EXPECT_EQ(messageOfRank(2),
            "rank 2 of 4 (SLURM_PROCID): nothing is heard of rank 0, which decides for all ranks; "
            "to work alone, unset SLURM_PROCID");
  EXPECT_EQ(Calls, 0);
}

TEST_F(RankedWorkTest, otherLaunch_isNotWaitedFor) {
  EXPECT_EQ(messageOfRank(0, false, "job 1"), "");
  Patience.Quiet = 50ms;
  EXPECT_NE(messageOfRank(1, false, "job 2"), "");
}

TEST_F(RankedWorkTest, launchWithoutName_onlyRank0Works) {
  EXPECT_EQ(messageOfRank(1, false, ""), "");
  EXPECT_EQ(Calls, 0);
  EXPECT_EQ(messageOfRank(0, false, ""), "");
  EXPECT_EQ(Calls, 1);
}

TEST_F(RankedWorkTest, noRank_works) {
  UnitStore Store(Dir.path() + "/store");
  EXPECT_EQ(messageOf(onceForAllRanks(std::nullopt, Words, Store,
                                      [&]() -> llvm::Error {
                                        ++Calls;
                                        return llvm::Error::success();
                                      })),
            "");
  EXPECT_EQ(Calls, 1);
}
