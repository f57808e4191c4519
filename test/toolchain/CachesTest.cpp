// Real compiler caches in front of carve-nvcc. They return what carve-nvcc would make now, even
// after decisions and profiles are added, changed and removed, and they do not make it again.
#include "BuiltTools.h"
#include "Store/DecisionFiles.h"
#include "Store/StoreUpkeep.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Program.h"

using namespace carve;

namespace {

/// A configuration of ccache.
struct Setting {
  const char *Name;
  std::vector<std::string> Environment;
  bool Direct; ///< Whether objects are found without a preprocessor run.
  /// Whether profiles are named by option as well. Without a preprocessor run only the key and the
  /// depfile can tell of them, so no such setting leaves that out.
  bool ByOption;
};

void PrintTo(const Setting &S, std::ostream *OS) { *OS << S.Name; }

const char Key[] = "CCACHE_COMPILERCHECK=%compiler% --carve-cache-key";
const Setting Settings[] = {
    {"asItIs", {}, false, true},
    {"withTheKey", {Key}, true, true},
    {"noDirectMode", {"CCACHE_NODIRECT=1"}, false, false},
    {"dependMode", {Key, "CCACHE_DEPEND=1"}, true, true},
};

class CachesTest : public BuiltToolsTest {
protected:
  const Words Object = {"-O3", "-arch=sm_90", "--no-compress", "-c",  "three.cu",
                        "-o",  "three.o",     "-MD",           "-MF", "three.d"};

  void SetUp() override {
    BuiltToolsTest::SetUp();
    if (IsSkipped())
      return;
    auto Found = llvm::sys::findProgramByName("ccache");
    if (!Found)
      GTEST_SKIP() << "no ccache";
    Ccache = *Found;
    keepKernels({"bulky"});
    // The decision file that the depfile lists exists from here on.
    build(Object);
    settle();
  }
  /// ccache does not store results of a file that is as young as the compile.
  static void settle() { ::usleep(1100000); }
  Words cacheEnvironment(const Words &More) {
    Words All = {"CCACHE_DIR=" + path("cache"), "CCACHE_CONFIGPATH=" + path("ccache.conf"),
                 "CCACHE_COMPILERCHECK", "CCACHE_EXTRAFILES", "CCACHE_DISABLE"};
    All.insert(All.end(), More.begin(), More.end());
    return environment(All);
  }
  CommandResult throughCcache(const Words &Arguments, const Words &More) {
    Words Argv = {Ccache, CARVE_NVCC_PROGRAM};
    Argv.insert(Argv.end(), Arguments.begin(), Arguments.end());
    return run(Argv, cacheEnvironment(More));
  }
  /// Returns one of ccache's statistics.
  unsigned counted(llvm::StringRef Name, const Words &More) {
    std::string Text = run({Ccache, "--print-stats"}, cacheEnvironment(More)).Stdout;
    unsigned Number = 0;
    for (llvm::StringRef Line : llvm::split(Text, '\n'))
      if (Line.consume_front(Name) && Line.consume_front("\t"))
        Line.getAsInteger(10, Number);
    return Number;
  }
  /// Makes the object, which must come from the cache if it is \p Known. If not, makes it again,
  /// and then it must. It has \p Regs registers in bulky, and the command prints \p Says.
  void expectObject(const char *What, unsigned Regs, bool Known, const Words &More,
                    const Words &Arguments, llvm::StringRef Says = "");
  void decide(unsigned Cap);

  std::string Ccache;
};

class CcacheSettings : public CachesTest, public testing::WithParamInterface<Setting> {};

void CachesTest::expectObject(const char *What, unsigned Regs, bool Known, const Words &More,
                              const Words &Arguments, llvm::StringRef Says) {
  SCOPED_TRACE(What);
  for (bool Stored : Known ? std::vector<bool>{true} : std::vector<bool>{false, true}) {
    llvm::sys::fs::remove(path("three.o"));
    unsigned Misses = counted("cache_miss", More);
    CommandResult R = throughCcache(Arguments, More);
    EXPECT_TRUE(R.succeeded()) << R.Stderr;
    EXPECT_EQ(R.Stderr.find("warning") != std::string::npos, !Says.empty()) << R.Stderr;
    EXPECT_NE(R.Stderr.find(Says), std::string::npos) << R.Stderr;
    EXPECT_EQ(counted("cache_miss", More), Misses + !Stored) << (Stored ? "stored" : "first");
    EXPECT_EQ(kernelsOf("three.o")[Bulky].Resources.RegsPerThread, Regs) << log();
  }
}

/// Stores a decision for bulky as a tuning does; 0 removes it.
void CachesTest::decide(unsigned Cap) {
  writeProfile(BulkyName, Cap ? Cap : 1);
  std::vector<Unit> Units = store().units();
  ASSERT_EQ(Units.size(), 1u);
  std::string Yaml = Cap ? read("profile.yaml") : "carve-profile: 1\nkernels: []\n";
  ASSERT_FALSE(writeDecisions(store(), Units.front().Key, Yaml));
  settle();
}

} // namespace

TEST_P(CcacheSettings, whateverChanges_returnsWhatCarveNvccWouldMake) {
  const Words &Set = GetParam().Environment;
  Words ByVariable = Set, ByOption = Object;
  ByVariable.push_back("CARVE_PROFILE=profile.yaml");
  ByOption.push_back("--carve-profile=profile.yaml");
  const unsigned Default = kernelsOf("three.o")[Bulky].Resources.RegsPerThread;

  expectObject("nothing tuned", Default, false, Set, Object);
  EXPECT_EQ(counted("direct_cache_hit", Set), GetParam().Direct ? 1u : 0u);
  decide(80);
  expectObject("a decision", 80, false, Set, Object);
  decide(88);
  expectObject("another decision", 88, false, Set, Object);
  decide(0);
  expectObject("the decision taken back", Default, true, Set, Object);

  writeProfile(BulkyName, 64);
  settle();
  expectObject("a profile by variable", 64, false, ByVariable, Object);
  expectObject("the variable unset", Default, true, Set, Object);
  if (GetParam().ByOption)
    expectObject("a profile by option", 64, false, Set, ByOption);
  writeProfile(BulkyName, 72);
  settle();
  expectObject("edited, by variable", 72, false, ByVariable, Object);
  if (GetParam().ByOption)
    expectObject("edited, by option", 72, false, Set, ByOption);
  ASSERT_FALSE(llvm::sys::fs::remove(path("profile.yaml")));
  expectObject("removed, by variable", Default, false, ByVariable, Object, "no such profile");
  if (GetParam().ByOption)
    expectObject("removed, by option", Default, false, Set, ByOption, "no such profile");
  expectObject("as at first", Default, true, Set, Object);
}

INSTANTIATE_TEST_SUITE_P(, CcacheSettings, testing::ValuesIn(Settings),
                         [](const auto &Info) { return std::string(Info.param.Name); });

TEST_F(CachesTest, dependModeThatCannotNotice_isOneWarning) {
  CommandResult R = throughCcache(Object, {"CCACHE_DEPEND=1"});
  EXPECT_TRUE(R.succeeded());
  EXPECT_EQ(R.Stderr, "carve-nvcc: warning: ccache: its depend mode notices neither profiles nor "
                      "decisions; set CCACHE_COMPILERCHECK='%compiler% --carve-cache-key'\n");
  EXPECT_EQ(read("three.d").find("decisions"), std::string::npos);
}

TEST_F(CachesTest, settingsInCcachesOwnFile_countAsThoseOfTheEnvironment) {
  write("ccache.conf", "compiler_check = %compiler% --carve-cache-key\ndepend_mode = true\n");
  EXPECT_EQ(throughCcache(Object, {}).Stderr, "");
  EXPECT_EQ(throughCcache(Object, {}).Stderr, "");
  EXPECT_EQ(counted("direct_cache_hit", {}), 1u);
}

TEST_F(CachesTest, twoOutputsOfOneSourceDecidedDifferently_areNotTakenForEachOther) {
  Words Second = Object;
  for (std::string &Word : Second)
    if (llvm::StringRef(Word).starts_with("three.") && Word != "three.cu")
      Word = "second" + Word.substr(5);
  for (const Words &Arguments : {Object, Second})
    EXPECT_TRUE(throughCcache(Arguments, {}).succeeded());
  unsigned Cap = 64;
  std::map<std::string, unsigned> Decided;
  // The second object came from the cache, so its unit is not recorded yet.
  EXPECT_TRUE(carveNvcc(Second).succeeded());
  for (const Unit &U : store().units()) {
    writeProfile(BulkyName, Cap);
    ASSERT_FALSE(writeDecisions(store(), U.Key, read("profile.yaml")));
    Decided[U.Output] = Cap;
    Cap += 8;
  }
  ASSERT_EQ(Decided.size(), 2u);
  for (const Words &Arguments : {Object, Second, Object})
    EXPECT_TRUE(throughCcache(Arguments, {}).succeeded());
  for (const auto &[Output, Regs] : Decided)
    EXPECT_EQ(kernelsOf(Output)[Bulky].Resources.RegsPerThread, Regs) << Output;
}

TEST_F(CachesTest, keyOfTheCache_changesWithWhatIsCompiledOtherwise) {
  auto KeyNow = [&](const Words &More) {
    CommandResult R = carveNvcc({"--carve-cache-key"}, More);
    EXPECT_TRUE(R.succeeded()) << R.Stderr;
    return R.Stdout;
  };
  const std::string First = KeyNow({});
  EXPECT_EQ(KeyNow({"CARVE_STORE=" + path("none")}), First) << "before the store exists";
  decide(80);
  EXPECT_NE(KeyNow({}), First);
  decide(0);
  EXPECT_EQ(KeyNow({}), First);
  writeProfile(BulkyName, 64);
  const std::string With = KeyNow({"CARVE_PROFILE=profile.yaml"});
  EXPECT_NE(With, First);
  write("profile.yaml", "# a comment\n" + read("profile.yaml"));
  EXPECT_EQ(KeyNow({"CARVE_PROFILE=profile.yaml"}), With);
  EXPECT_NE(KeyNow({"CARVE_PROFILE=none.yaml"}), First);
}

namespace {

/// A shell with sccache's name asks what sccache asks.
class SccacheTest : public BuiltToolsTest {
protected:
  void SetUp() override {
    BuiltToolsTest::SetUp();
    if (IsSkipped())
      return;
    auto Shell = llvm::sys::findProgramByName("bash");
    if (!Shell)
      GTEST_SKIP() << "no bash";
    ASSERT_FALSE(llvm::sys::fs::copy_file(*Shell, path("sccache")));
    ASSERT_FALSE(llvm::sys::fs::setPermissions(path("sccache"), llvm::sys::fs::all_all));
  }
  CommandResult asked(const std::string &Arguments, const Words &More = {}) {
    const Words Argv = {path("sccache"), "-c", CARVE_NVCC_PROGRAM " " + Arguments + "; exit $?"};
    return run(Argv, environment(More));
  }
};

} // namespace

TEST_F(SccacheTest, questionForNvccsSteps_profileIsNamed_isRefused) {
  CommandResult R = asked("-arch=sm_90 -c three.cu -o three.o --dryrun --keep");
  EXPECT_TRUE(R.succeeded()) << R.Stderr;
  EXPECT_NE(R.Stderr.find("cicc"), std::string::npos) << R.Stderr;
  EXPECT_EQ(storeStats(store()).Passthroughs["sccache"], 1u);
  R = asked("-arch=sm_90 -c three.cu -o three.o --dryrun --keep --carve-profile=p.yaml");
  EXPECT_EQ(R.ExitStatus, 1);
  EXPECT_EQ(R.Stderr, "carve-nvcc: error: sccache runs nvcc's steps by itself and leaves out what "
                      "p.yaml says; use ccache or no cache, or name no profile\n");
}

TEST_F(SccacheTest, preprocessedText_endsInADigestOfTheProfile) {
  const std::string Ask = "-arch=sm_90 -x cu three.cu -E -Xcompiler=-P";
  std::string None = asked(Ask).Stdout;
  writeProfile(BulkyName, 64);
  std::string With = asked(Ask, {"CARVE_PROFILE=profile.yaml"}).Stdout;
  writeProfile(BulkyName, 72);
  std::string Edited = asked(Ask, {"CARVE_PROFILE=profile.yaml"}).Stdout;
  EXPECT_NE(None, With);
  EXPECT_NE(With, Edited);
  EXPECT_EQ(None, asked(Ask).Stdout);
  EXPECT_NE(None.find("\n// carve-nvcc: "), std::string::npos);
  // Without a cache it is the same as nvcc's.
  EXPECT_EQ(carveNvcc({"-arch=sm_90", "-x", "cu", "three.cu", "-E", "-Xcompiler=-P"}).Stdout,
            plain({"-arch=sm_90", "-x", "cu", "three.cu", "-E", "-Xcompiler=-P"}).Stdout);
}
