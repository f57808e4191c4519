// The options of the two programs, and where they look for the store.
#include "DriverTier.h"

#include <unistd.h>

using namespace carve;
using Words = std::vector<std::string>;

namespace {
class OptionsTest : public DriverTierTest {};
class StorePlaceTest : public DriverTierTest {
protected:
  /// Checks that compiles succeed as ever and leave nothing in the temporary directory.
  void expectCompiles() {
    Ended E = carveNvcc(Compile);
    EXPECT_EQ(E.Status, 0);
    EXPECT_EQ(E.Stdout + E.Stderr, "");
    EXPECT_EQ(read("work/obj/saxpy.o"), "made by nvcc\n");
    EXPECT_EQ(names("tmp"), Words{});
    E = carveNvcc({"-E", "x.cu"});
    EXPECT_EQ(E.Status, 0);
    EXPECT_EQ(E.Stdout + E.Stderr, "");
  }
};
class CarveCommandTest : public DriverTierTest {};
} // namespace

TEST_F(OptionsTest, wrongOption_failsBeforeNvccIsCalled) {
  for (auto [Argument, Message] :
       {std::pair("--carve-rum=x", "unknown option '--carve-rum'; --carve-help lists them"),
        std::pair("--carve-timeout=0",
                  "--carve-timeout is '0', expected a number of seconds above 0"),
        std::pair("--carve-scope=all", "--carve-scope is 'all', expected kernel or file"),
        std::pair("--carve-log", "--carve-log needs a value: --carve-log=...")}) {
    Words Arguments = Compile;
    Arguments.push_back(Argument);
    Ended E = carveNvcc(Arguments);
    EXPECT_EQ(E.Status, 1);
    EXPECT_EQ(E.Stdout, "");
    EXPECT_EQ(E.Stderr, std::string("carve-nvcc: error: ") + Message + "\n");
  }
  EXPECT_EQ(read("cuda/bin/log/calls"), "");
}

TEST_F(OptionsTest, log_thatCannotBeOpened_isAnError) {
  Env["CARVE_LOG"] = path("cuda/bin/plan/log.txt");
  Ended E = carveNvcc(Compile);
  EXPECT_EQ(E.Status, 1);
  EXPECT_NE(E.Stderr.find("plan/log.txt"), std::string::npos) << E.Stderr;
}

TEST_F(OptionsTest, helpAndVersion_needNoNvcc) {
  Env["CARVE_NVCC"] = path("none");
  Ended Help = carveNvcc({"--carve-help"}), Version = carveNvcc({"--carve-version"});
  EXPECT_EQ(Help.Status, 0);
  for (const char *Option :
       {"--carve-run[=", "--carve-output=", "--carve-timeout=", "--carve-max-runs=",
        "--carve-budget=", "--carve-mode=", "--carve-scope=", "--carve-launch-domain=",
        "--carve-entries=", "--carve-profile=", "--carve-samples=", "--carve-log=",
        "--carve-cache-key", "--carve-version", "--carve-help"})
    EXPECT_NE(Help.Stdout.find(Option), std::string::npos) << Option;
  EXPECT_EQ(Version.Status, 0);
  EXPECT_EQ(Version.Stdout.find("carve-nvcc "), 0u);
  EXPECT_EQ(Help.Stderr + Version.Stderr, "");
}

TEST_F(StorePlaceTest, store_thatCannotBeWritten_isIgnored) {
  Env["CARVE_STORE"] = "/proc/carve-store";
  expectCompiles();
}

TEST_F(StorePlaceTest, store_thatIsReadOnly_isIgnored) {
  if (::geteuid() == 0)
    GTEST_SKIP() << "root may write anywhere";
  std::filesystem::create_directory(path("store"));
  std::filesystem::permissions(path("store"), std::filesystem::perms(0500));
  expectCompiles();
}

TEST_F(StorePlaceTest, store_thatIsAFile_isUntouched) {
  write("store", "precious");
  expectCompiles();
  EXPECT_EQ(read("store"), "precious");
}

TEST_F(StorePlaceTest, store_withoutAHome_isIgnored) {
  for (const char *Name : {"CARVE_STORE", "HOME"})
    Env.erase(Name);
  expectCompiles();
  Ended E = carve({"store", "stats"});
  EXPECT_EQ(E.Status, 1);
  EXPECT_EQ(E.Stderr,
            "carve: error: no store: CARVE_STORE, XDG_CACHE_HOME and HOME are all unset\n");
}

TEST_F(StorePlaceTest, store_withoutVariables_isInTheHome) {
  Env.erase("CARVE_STORE");
  expectCompiles();
  EXPECT_TRUE(exists("home/.cache/carve-nvcc/units"));
  EXPECT_EQ(stored("units"), 1);
}

TEST_F(CarveCommandTest, noCommand_printsTheUsage) {
  Ended E = carve({});
  EXPECT_EQ(E.Status, 1);
  EXPECT_EQ(E.Stderr.find("usage: carve COMMAND"), 0u);
  Ended Help = carve({"--help"});
  EXPECT_EQ(Help.Status, 0);
  EXPECT_EQ(Help.Stdout, E.Stderr);
  EXPECT_EQ(carve({"--version"}).Stdout.find("carve "), 0u);
}

TEST_F(CarveCommandTest, mistakes_nameWhatWasExpected) {
  expectError(
      {"tun"},
      "unknown command 'tun', expected one of points, metrics, tune, fleet, capture, search, "
      "kernels, touch, recheck, report, explain, merge, diff, check, export, store, "
      "evaluate, doctor");
  expectError({"store"}, "carve store: expected one of stats, verify, prune, clear or publish");
  expectError({"store", "stats", "prune"},
              "carve store: expected one of stats, verify, prune, clear or publish");
  expectError({"store", "delete"},
              "carve store: unknown 'delete', expected stats, verify, prune, clear or publish");
  expectError({"store", "stats", "--format=xml"},
              "carve store: --format is 'xml', expected text or json");
  expectError({"store", "prune", "--max-size=0"},
              "carve store: --max-size is '0', expected a whole number from 1 to 1073741824");
  expectError({"report", "x"}, "carve report: unexpected 'x', expected only options");
  expectError({"report", "--form=json"},
              "carve report: unknown option '--form'; carve report --help lists them");
  expectError({"report"}, "no tuning has been made with the store " + path("store"));
  expectError({"tune"}, "carve tune: no command, expected: carve tune -- COMMAND...");
  expectError({"tune", "./app"}, "carve tune: unexpected './app', expected the command after '--'");
  expectError({"tune", "--samples=a", "--record=b", "--", "./app"},
              "carve tune: --samples and --record exclude each other");
  expectError({"tune", "--max-runs=x", "--", "./app"},
              "carve tune: --max-runs is 'x', expected a whole number from 1 to 1000000");
  expectError({"tune", "--mode=fast", "--", "./app"},
              "carve tune: --mode is 'fast', expected auto or fixed or rotate or replay");
  expectError({"tune", "--budget=0", "--", "./app"},
              "carve tune: --budget is '0', expected a number of seconds above 0");
}

TEST_F(CarveCommandTest, tune_withoutAGpu_fails) {
  Ended E = carve({"tune", "--", "./app"});
  EXPECT_EQ(E.Status, 1);
  EXPECT_EQ(E.Stderr.find("carve: error: no GPU is present"), 0u) << E.Stderr;
}

TEST_F(CarveCommandTest, samples_thatCannotBeRead_areAnError) {
  write("samples", "carve-samples\t1\nsample\tk\tr40\tfast\n");
  Ended E = carve({"tune", "--samples=" + path("none"), "--", "./app"});
  EXPECT_EQ(E.Status, 1);
  EXPECT_NE(E.Stderr.find(path("none")), std::string::npos) << E.Stderr;
  expectError({"tune", "--samples=" + path("samples"), "--", "./app"},
              path("samples") + ":2: expected a probe, timing, sample or program line, not "
                                "'sample\tk\tr40\tfast'");
}

TEST_F(CarveCommandTest, store_isVerifiedPrunedAndCleared) {
  carveNvcc(Compile);
  EXPECT_GT(stored("blobs"), 0);
  EXPECT_EQ(carve({"store", "verify"}).Stdout, "0 fault(s)\n");
  std::filesystem::path Blob;
  for (const auto &Entry : std::filesystem::recursive_directory_iterator(path("store/blobs")))
    if (Entry.is_regular_file())
      Blob = Entry.path();
  std::filesystem::resize_file(Blob, 5);
  EXPECT_EQ(carve({"store", "verify"}).Status, 1);
  EXPECT_EQ(carve({"store", "verify", "--repair", "--format=json"}).Status, 0);
  EXPECT_EQ(carve({"store", "verify"}).Status, 0);
  EXPECT_EQ(carve({"store", "prune", "--max-size=1"}).Status, 0);
  EXPECT_EQ(carve({"store", "clear", "--format=json"}).Status, 0);
  EXPECT_EQ(stored("units"), 0);
  EXPECT_EQ(stored("bytes"), 0);
}
