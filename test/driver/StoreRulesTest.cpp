// The store on a file system that keeps the rules of network file systems, and the store of a site.
#include "DriverTier.h"

#include "Support/LinkLock.h"

#include <chrono>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace carve;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

namespace {

class StoreRulesTest : public DriverTierTest {
protected:
  void SetUp() override {
    if (CARVE_TEST_SANITIZED)
      GTEST_SKIP() << "a sanitizer's library has to come first";
  }
  void impose(const std::string &Rules) {
    Env["LD_PRELOAD"] = CARVE_STORE_RULES;
    Env["STORE_RULES"] = Rules;
    Env["STORE_RULES_ROOT"] = path("store");
    Env["CARVE_LOG"] = path("log");
  }
  void lift() {
    for (const char *Name : {"LD_PRELOAD", "STORE_RULES"})
      Env.erase(Name);
  }
  static Words compileTo(const std::string &Output) {
    return {CARVE_NVCC_TOOL, "-O3", "-c", "src/saxpy.cu", "-o", Output};
  }
  void expectClean() {
    Ended E = carve({"store", "verify"});
    EXPECT_EQ(E.Stdout, "0 fault(s)\n");
    EXPECT_EQ(E.Status, 0) << E.Stderr;
  }
};

class SiteTest : public DriverTierTest {
protected:
  void SetUp() override { Env["CARVE_LOG"] = path("log"); }
  /// Returns how often the log has \p Text.
  size_t logged(const std::string &Text) {
    size_t Count = 0;
    const std::string Log = read("log");
    for (size_t At = 0; (At = Log.find(Text, At)) != std::string::npos; ++At)
      ++Count;
    return Count;
  }
};

class RanksTest : public DriverTierTest {
protected:
  pid_t startRank(int Rank) {
    Env["SLURM_PROCID"] = std::to_string(Rank);
    return start({CARVE_TOOL, "tune", "--", "true"});
  }
};

} // namespace

TEST_F(StoreRulesTest, nfsWithoutLocks_manyWriters_storeIsClean) {
  impose("nfs,no-locks,stale,squashed");
  std::vector<pid_t> Writers;
  for (int I = 0; I < 12; ++I) // They share outputs, so that they replace each other's records.
    Writers.push_back(start(compileTo("obj/" + std::to_string(I % 4) + ".o")));
  for (pid_t Writer : Writers) {
    Ended E = wait(Writer);
    EXPECT_EQ(E.Status, 0);
    EXPECT_EQ(E.Stdout + E.Stderr, "");
  }
  expectClean();
  lift();
  expectClean();
  EXPECT_EQ(stored("units"), 4);
  EXPECT_FALSE(exists("store/lock")) << "a lock that holds on one machine only";
  EXPECT_FALSE(exists("store/lock.held"));
  for (const std::string &Name : names("store"))
    EXPECT_EQ(Name.find(".carve-"), std::string::npos) << Name;
}

TEST_F(StoreRulesTest, noLocksOnALocalDisk_otherLockIsUsed) {
  impose("no-locks");
  EXPECT_EQ(carveNvcc(Compile).Status, 0);
  expectClean();
  EXPECT_EQ(stored("units"), 1);
  EXPECT_FALSE(exists("store/lock.held"));
}

TEST_F(StoreRulesTest, writersKilled_nextOnesGoOnAndStoreIsClean) {
  impose("nfs,no-locks");
  for (int I = 0; I < 20; ++I) {
    pid_t Writer = start(compileTo("obj/" + std::to_string(I % 3) + ".o"));
    ::usleep(5000 * I);
    ::kill(Writer, SIGKILL);
    ASSERT_EQ(::waitpid(Writer, nullptr, 0),
              Writer); // It may have made no files for its output yet.
  }
  Ended E = run(compileTo("obj/last.o"));
  EXPECT_EQ(E.Status, 0);
  EXPECT_EQ(E.Stderr, "");
  expectClean();
  EXPECT_FALSE(exists("store/lock.held"));
}

TEST_F(StoreRulesTest, quotaUsedUp_buildGoesOnAndNothingIsHalfWritten) {
  impose("nfs,quota");
  Ended E = carveNvcc(Compile);
  EXPECT_EQ(E.Status, 0);
  EXPECT_EQ(E.Stdout + E.Stderr, "");
  EXPECT_EQ(read("work/obj/saxpy.o"), "made by nvcc\n");
  lift();
  expectClean();
  EXPECT_EQ(stored("units") + stored("blobs"), 0);
  EXPECT_NE(read("log").find("Disk quota exceeded"), std::string::npos) << read("log");
}

TEST_F(StoreRulesTest, clockADayAhead_freshTemporaryStays) {
  carveNvcc(Compile);
  write("store/units/x.json.carve-0123", "being written");
  impose("ahead");
  EXPECT_EQ(carve({"store", "prune"}).Status, 0);
  EXPECT_TRUE(exists("store/units/x.json.carve-0123"));
}

TEST_F(SiteTest, siteMissing_oneWarningAndTheCompileIsAsWithout) {
  Env["CARVE_STORE_SITE"] = path("site");
  for (int I = 0; I < 2; ++I) {
    fs::remove(path("log"));
    Ended E = carveNvcc(Compile);
    EXPECT_EQ(E.Status, 0);
    EXPECT_EQ(E.Stdout + E.Stderr, "");
    EXPECT_EQ(read("work/obj/saxpy.o"), "made by nvcc\n");
    EXPECT_EQ(logged("site's store"), 1u) << read("log");
  }
  EXPECT_FALSE(exists("site"));
}

TEST_F(SiteTest, siteOthersMayWrite_oneWarning) {
  Env["CARVE_STORE_SITE"] = path("site");
  fs::create_directory(path("site"));
  fs::permissions(path("site"), fs::perms(0777));
  EXPECT_EQ(carveNvcc(Compile).Status, 0);
  EXPECT_EQ(logged("expected one that other users cannot write"), 1u) << read("log");
  expectError(
      {"store", "stats", "--site"},
      "the site's store is not used: " + path("site") +
          " has mode 0777, expected one that other users cannot write: run `chmod -R go-w " +
          path("site") + "` if you trust it");
}

TEST_F(SiteTest, publish_withoutAPlaceOrIntoItself_fails) {
  carveNvcc(Compile);
  expectError({"store", "publish"},
              "carve store publish: no site's store: name it by --to or CARVE_STORE_SITE");
  expectError({"store", "publish", "--to=" + path("store")},
              "carve store publish: " + path("store") + " is the store itself");
  expectError({"store", "prune", "--site"},
              "carve store: --site is for stats and verify, not for prune");
  expectError(
      {"store", "verify", "--site", "--repair"},
      "carve store: a site's store is only read; whoever owns it repairs it as CARVE_STORE");
}

TEST_F(SiteTest, publish_withNothingDecided_makesAStoreThatIsClean) {
  carveNvcc(Compile);
  Ended E = carve({"store", "publish", "--to=" + path("site")});
  EXPECT_EQ(E.Stdout, "published 0 decision(s) in " + path("site") +
                          ", 0 of them in place of earlier ones; 0 known already\n");
  EXPECT_EQ(E.Status, 0) << E.Stderr;
  EXPECT_FALSE(exists("site/publish.held"));
  Env["CARVE_STORE_SITE"] = path("site");
  EXPECT_EQ(carve({"store", "verify", "--site"}).Stdout, "0 fault(s)\n");
  EXPECT_NE(carve({"store", "stats", "--site"}).Stdout.find("published  0"), std::string::npos);
  EXPECT_NE(carve({"doctor"}).Stdout.find("note  site: " + path("site")), std::string::npos)
      << carve({"doctor"}).Stdout;
}

TEST_F(SiteTest, publish_whileAnotherDoes_isRefusedWithTheOther) {
  carveNvcc(Compile);
  ASSERT_EQ(carve({"store", "publish", "--to=" + path("site")}).Status, 0);
  // The test's own process is the other publisher.
  LinkLock Mine =
      llvm::cantFail(LinkLock::take(path("site/publish.held"), std::chrono::milliseconds(0)));
  Ended E = carve({"store", "publish", "--to=" + path("site")});
  EXPECT_EQ(E.Status, 1);
  EXPECT_NE(E.Stderr.find("another process publishes there: " + path("site/publish.held") +
                          ": process " + std::to_string(::getpid()) + " on host "),
            std::string::npos)
      << E.Stderr;
  EXPECT_TRUE(exists("site/publish.held"));
}

TEST_F(RanksTest, tune_rank0Fails_allRanksFailAndOnlyItTriesIt) {
  Env["SLURM_NTASKS"] = "4";
  Env["SLURM_JOB_ID"] = "12";
  Env["SLURM_STEP_ID"] = "0";
  std::vector<pid_t> Ranks;
  for (int Rank = 3; Rank >= 0; --Rank) // The others come before rank 0.
    Ranks.push_back(startRank(Rank));
  for (int Rank = 3; Rank >= 0; --Rank) {
    Ended E = wait(Ranks[3 - Rank]);
    EXPECT_EQ(E.Status, 1);
    if (Rank == 0)
      EXPECT_NE(E.Stderr.find("no GPU is present"), std::string::npos) << E.Stderr;
    else
      EXPECT_EQ(E.Stderr, "carve: error: rank " + std::to_string(Rank) +
                              " of 4 (SLURM_PROCID): rank 0 has failed, and its message says "
                              "why\n");
  }
}

TEST_F(RanksTest, compile_ofAnotherRank_isNotTuned) {
  Env["PMI_RANK"] = "1";
  Env["PMI_SIZE"] = "2";
  Env["CARVE_RUN"] = "true";
  Env["CARVE_LOG"] = path("log");
  EXPECT_EQ(carveNvcc(Compile).Status, 0);
  EXPECT_NE(read("log").find("not tuned: this is rank 1 of 2 (PMI_RANK), and rank 0 decides"),
            std::string::npos)
      << read("log");
}
