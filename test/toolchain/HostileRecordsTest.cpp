// Records are data. What somebody else puts into a store, a capture or a profile is never run,
// writes nothing outside, and delays nobody. The compile then gives what it gives without a store.
#include "BuiltTools.h"
#include "Store/DecisionFiles.h"

#include "Captures/File/CaptureFile.h"
#include "Captures/File/UnitBundle.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <filesystem>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

using namespace carve;
namespace json = llvm::json;
namespace stdfs = std::filesystem;

namespace {

class HostileRecords : public BuiltToolsTest {
protected:
  const Words Object = {"-O3", "-arch=sm_90", "--no-compress", "-c", "three.cu", "-o", "three.o"};
  /// A decision for which the front end has to run again, or the record's files are used.
  static constexpr char FrontEndCap[] = "    variant: {cap: 64, frontend-cap: 128}\n";
  Words withProfile() const { return {"CARVE_PROFILE=" + path("profile.yaml")}; }

  /// The first case compiles the record and the objects. The others continue in the same directory,
  /// because records hold absolute paths and the times of the inputs.
  void SetUp() override {
    BuiltToolsTest::SetUp();
    if (IsSkipped())
      return;
    if (!Prepared)
      return prepare();
    Work = std::move(*Prepared);
    Prepared.reset();
    putBack();
  }
  void TearDown() override {
    if (!Key.empty())
      Prepared.emplace(std::move(Work));
  }
  static void TearDownTestSuite() {
    Prepared.reset();
    Key.clear();
  }

  void prepare() {
    keepKernels({"bulky", "hidden"});
    write("profile.yaml", "carve-profile: 1\nkernels:\n  - kernel: \"" + std::string(BulkyName) +
                              "\"\n" + FrontEndCap);
    build(Object, {withProfile()[0], "CARVE_STORE=" + path("other")});
    Wanted = stripped("three.o");
    build(Object);
    ASSERT_NE(stripped("three.o"), Wanted);
    std::vector<Unit> Units = store().units();
    ASSERT_EQ(Units.size(), 1u);
    ASSERT_TRUE(run({"sh", "-c", "mkdir saved && cp -a store three.o saved"}).succeeded());
    Names.clear();
    for (const stdfs::directory_entry &Entry : stdfs::directory_iterator(Work.path()))
      Names.insert(Entry.path().filename());
    Key = Units.front().Key;
  }
  /// Removes what other cases left, and restores what prepare() made.
  void putBack() {
    for (const stdfs::directory_entry &Entry : stdfs::directory_iterator(Work.path()))
      if (!Names.count(Entry.path().filename()))
        stdfs::remove_all(Entry.path());
    restoreStore();
  }
  void restoreStore() {
    ASSERT_FALSE(llvm::sys::fs::remove_directories(path("store")));
    ASSERT_TRUE(run({"cp", "-a", "saved/store", "saved/three.o", "."}).succeeded());
  }

  std::string recordPath() const { return "store/units/" + Key + ".json"; }

  /// Returns the record of the unit, changed by \p Change.
  std::string changedRecord(llvm::function_ref<void(json::Object &)> Change) {
    json::Value Record = llvm::cantFail(json::parse(read(recordPath())));
    Change(*Record.getAsObject());
    return llvm::formatv("{0:2}\n", Record);
  }
  void change(llvm::function_ref<void(json::Object &)> Change) {
    write(recordPath(), changedRecord(Change));
  }

  /// Puts a shell with a script in place of cicc and its arguments.
  static void putShell(json::Object &Record, const std::string &Script) {
    json::Object &Step = *(*Record.getArray("front-ends"))[0].getAsObject();
    Step["cicc"] = "/bin/sh";
    Step["arguments"] = json::Array{"-c", Script};
  }

  /// Builds with the profile in at most \p Seconds, and checks that the object is right.
  void expectRightObject(const char *What, unsigned Seconds = 60) {
    SCOPED_TRACE(What);
    Words Argv = {"timeout", "-s", "KILL", std::to_string(Seconds), CARVE_NVCC_PROGRAM};
    Argv.insert(Argv.end(), Object.begin(), Object.end());
    llvm::sys::fs::remove(path("carve.log"));
    CommandResult R = run(Argv, environment(withProfile()));
    ASSERT_TRUE(R.succeeded()) << R.ExitStatus << R.Stderr << log();
    EXPECT_EQ(R.Stdout + R.Stderr, "");
    EXPECT_TRUE(stripped("three.o") == Wanted) << log();
    expectNoTemporaries();
  }

  /// Runs `carve store verify` in at most 20 s.
  CommandResult verified(const Words &More = {}) {
    Words Argv = {"timeout", "-s", "KILL", "20", CARVE_PROGRAM, "store", "verify"};
    Argv.insert(Argv.end(), More.begin(), More.end());
    return run(Argv, environment({}));
  }

  /// Makes a capture with \p Record as its unit.
  void writeCapture(const std::string &Name, const std::string &Record) {
    CaptureWriter W = llvm::cantFail(CaptureWriter::create(path(Name)));
    Unit U = store().units().front();
    Capture C;
    C.Kernel = Bulky;
    C.ContainerDigest = U.Containers.front();
    bundleUnits(store(), W, C);
    C.Units = {{Key, W.put(Record)}};
    llvm::cantFail(W.finish(C));
  }

  /// Checks that `carve store verify` refuses the record and gives \p Reason.
  void expectFault(const std::string &Reason) {
    CommandResult R = verified();
    EXPECT_EQ(R.ExitStatus, 1);
    EXPECT_NE(R.Stdout.find(path(recordPath())), std::string::npos) << R.Stdout;
    EXPECT_NE(R.Stdout.find(Reason), std::string::npos) << R.Stdout;
  }

  inline static std::optional<TempDir> Prepared; ///< The directory between two cases.
  inline static std::set<std::string> Names;     ///< The files in it that stay.
  inline static std::string Key, Wanted;
};

} // namespace

TEST_F(HostileRecords, programInAStoredFrontEnd_anotherCapIsAsked_isNotRun) {
  change([&](json::Object &R) { putShell(R, "echo x > " + path("ran")); });
  expectRightObject("a shell for cicc");
  EXPECT_FALSE(exists("ran"));
  EXPECT_TRUE(logSays("expected an argument that nvcc gives cicc at unit.front-ends[0].arguments"))
      << log();
}

TEST_F(HostileRecords, programAloneInAStoredFrontEnd_anotherCapIsAsked_theToolkitsIsRun) {
  write("evil", "#!/bin/sh\necho x > " + path("ran") + "\n");
  ASSERT_EQ(::chmod(path("evil").c_str(), 0755), 0);
  change([&](json::Object &R) {
    (*(*R.getArray("front-ends"))[0].getAsObject())["cicc"] = path("evil");
  });
  expectRightObject("a program of its own for cicc");
  EXPECT_FALSE(exists("ran"));
  EXPECT_TRUE(logSays("made from the store")) << log();
}

TEST_F(HostileRecords, optionsThatNameFiles_inAStoredUnit_areNotHandedOn) {
  write("options", "-O1\n");
  auto Image = [](json::Object &R) -> json::Object & {
    return *(*R.getArray("images"))[0].getAsObject();
  };
  const std::string Record = read(recordPath());
  const Words Hostile = {"--options-file=" + path("options"), "-o=" + path("out"), "-optf",
                         path("x.ptx"), "--unknown"};
  const std::string Reason = "expected an option of ptxas that names no file";
  for (const std::string &Word : Hostile) {
    SCOPED_TRACE(Word);
    write(recordPath(), Record);
    change([&](json::Object &R) { Image(R).getArray("ptxas-options")->push_back(Word); });
    expectFault(Reason);
    // All are refused when the record is read. The first two have a compile as well, because each
    // of them would change what it makes.
    if (&Word - Hostile.data() >= 2)
      continue;
    expectRightObject("with the option");
    EXPECT_TRUE(logSays(Reason)) << log();
  }
  write(recordPath(), Record);
  change([&](json::Object &R) {
    json::Array &Words = *R.getObject("object")->getArray("fatbinary-arguments");
    Words.push_back("--image3=kind=ptx,sm=90,file=/etc/passwd");
  });
  expectRightObject("a file of somebody else's for fatbinary");
}

TEST_F(HostileRecords, namesThatLeaveTheDirectory_inAStoredUnit_writeNothingOutside) {
  const std::string Record = read(recordPath());
  auto Set = [](llvm::StringRef List, llvm::StringRef Name, const std::string &Value) {
    return [=](json::Object &R) { (*(*R.getArray(List))[0].getAsObject())[Name] = Value; };
  };
  // All are refused when the record is read. A compile follows for one of each part of the record.
  const struct {
    const char *Name;
    std::function<void(json::Object &)> Change;
    bool Compiled;
  } Changes[] = {
      {"ptx of an image", Set("images", "ptx-name", "../../escaped"), false},
      {"cubin", Set("images", "cubin-name", "../../escaped"), true},
      {"input", Set("front-ends", "input-name", "../../escaped"), false},
      {"module id", Set("front-ends", "module-id-name", "../../escaped"), false},
      {"ptx of a front end", Set("front-ends", "ptx-name", "../../escaped"), true},
      {"fatbin", [](json::Object &R) { (*R.getObject("object"))["fatbin-name"] = "../../escaped"; },
       true}};
  for (const auto &[Name, Change, Compiled] : Changes) {
    SCOPED_TRACE(Name);
    write(recordPath(), Record);
    change(Change);
    expectFault("expected ");
    if (!Compiled)
      continue;
    expectRightObject("a name with ..");
    EXPECT_FALSE(exists("escaped"));
    EXPECT_TRUE(logSays("expected one component of a path") ||
                logSays("expected an argument that nvcc gives cicc"))
        << log();
  }
}

TEST_F(HostileRecords, capture_withAProgramInItsUnit_isRefusedAndNotRun) {
  writeCapture("evil.carvecap",
               changedRecord([&](json::Object &R) { putShell(R, "echo x > " + path("ran")); }));
  const std::string Samples = "--samples=" CARVE_TEST_INPUTS "/samples/three.samples";
  CommandResult R = carve({"tune", "--effort=2", Samples, "--from", "evil.carvecap"},
                          {"CARVE_STORE=" + path("there")});
  EXPECT_FALSE(R.succeeded());
  EXPECT_NE(R.Stderr.find("expected an argument that nvcc gives cicc"), std::string::npos)
      << R.Stderr;
  EXPECT_FALSE(exists("ran"));
  EXPECT_TRUE(UnitStore(path("there")).units().empty());
}

TEST_F(HostileRecords, capture_withACommandInItsUnit_isTunedWithoutIt) {
  write("g++", "#!/bin/sh\necho x > " + path("ran") + "\nexec /usr/bin/g++ \"$@\"\n");
  ASSERT_EQ(::chmod(path("g++").c_str(), 0755), 0);
  writeCapture("command.carvecap", changedRecord([&](json::Object &R) {
                 json::Array &Words = *R.getArray("command");
                 Words.push_back("-ccbin=" + path("g++"));
                 R["object"] = nullptr;
               }));
  const std::string Samples = "--samples=" CARVE_TEST_INPUTS "/samples/three.samples";
  for (const char *Scope : {"--scope=file", "--scope=kernel"})
    carve({"tune", Scope, "--effort=2", Samples, "--from", "command.carvecap"},
          {"CARVE_STORE=" + path("there")});
  EXPECT_FALSE(exists("ran")) << log();
  std::vector<Unit> Imported = UnitStore(path("there")).units();
  ASSERT_EQ(Imported.size(), 1u);
  EXPECT_TRUE(Imported[0].Command.empty());
}

TEST_F(HostileRecords, storedCommand_withAPlugin_isNotRunAgain) {
  write("plugin.so", "");
  change([&](json::Object &R) {
    R.getArray("command")->push_back("-Xcompiler=-fplugin=" + path("plugin.so"));
  });
  const std::string Samples = "--samples=" CARVE_TEST_INPUTS "/samples/three.samples";
  carve({"tune", "--scope=file", Samples, "--", "./app"});
  EXPECT_TRUE(logSays("recorded-command: '-Xcompiler=-fplugin=")) << log();
}

TEST_F(HostileRecords, specialAndHugeFiles_inTheStore_delayNothingAndAreFound) {
  const std::string Decisions = llvm::cantFail(decisionFile(store(), Key)),
                    Record = path(recordPath()),
                    Digest = store().units().front().Images[0].PtxDigest,
                    Blob = path("store/blobs/" + Digest.substr(0, 2) + "/" + Digest);
  using Damage = std::function<void(const std::string &)>;
  const Damage Pipe = [](const std::string &P) { ASSERT_EQ(::mkfifo(P.c_str(), 0600), 0); },
               Endless =
                   [](const std::string &P) { ASSERT_EQ(::symlink("/dev/zero", P.c_str()), 0); },
               Nowhere =
                   [](const std::string &P) { ASSERT_EQ(::symlink("nowhere", P.c_str()), 0); },
               Directory = [](const std::string &P) { ASSERT_EQ(::mkdir(P.c_str(), 0755), 0); },
               Sparse = [](const std::string &P) {
                 llvm::cantFail(writeFileAtomically(P, "{"));
                 ASSERT_EQ(::truncate(P.c_str(), off_t(3) << 30), 0);
               };
  // Decisions are read whether or not the record can be. A blob is read only if it can.
  const std::vector<std::pair<std::string, Damage>> Cases[] = {
      {{Record, Pipe}, {Decisions, Endless}},
      {{Record, Endless}, {Decisions, Pipe}},
      {{Record, Nowhere}},
      {{Record, Directory}},
      {{Record, Sparse}},
      {{Blob, Pipe}},
      {{Blob, Endless}},
      {{Blob, Sparse}}};
  for (const auto &Case : Cases) {
    SCOPED_TRACE(&Case - Cases);
    llvm::cantFail(decisionFile(store(), Key)); // Makes the file if there is none.
    for (const auto &[Victim, Harm] : Case) {
      ASSERT_EQ(::unlink(Victim.c_str()), 0);
      Harm(Victim);
    }
    CommandResult R = verified();
    EXPECT_EQ(R.ExitStatus, 1) << R.Stdout << R.Stderr;
    for (const auto &[Victim, Harm] : Case)
      EXPECT_NE(R.Stdout.find(Victim), std::string::npos) << R.Stdout;
    expectRightObject("with it");
    EXPECT_TRUE(verified({"--repair"}).succeeded());
    R = verified();
    EXPECT_TRUE(R.succeeded()) << R.Stdout << R.Stderr;
    restoreStore();
  }
}

TEST_F(HostileRecords, profile_thatIsAPipeOrADevice_isRefusedAtOnce) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const std::string &Profile : {path("pipe"), std::string("/dev/zero")}) {
    CommandResult R = run({"timeout", "-s", "KILL", "20", CARVE_NVCC_PROGRAM, "-c", "three.cu"},
                          environment({"CARVE_PROFILE=" + Profile}));
    EXPECT_EQ(R.ExitStatus, 1) << R.Stderr;
    EXPECT_NE(R.Stderr.find(Profile + ": is a "), std::string::npos) << R.Stderr;
    EXPECT_NE(R.Stderr.find("expected a regular file"), std::string::npos) << R.Stderr;
  }
}

TEST_F(HostileRecords, optionsFileThatIsAPipe_isNvccsToRead) {
  const std::string Script =
      "\"$0\" --options-file <(echo -arch=sm_80 -DUNUSED_NAME) --no-compress -c "
      "three.cu -o piped.o";
  CommandResult R =
      run({"timeout", "60", "bash", "-c", Script, CARVE_NVCC_PROGRAM}, environment({}));
  EXPECT_TRUE(R.succeeded() && R.Stderr.empty()) << R.Stderr;
  EXPECT_EQ(deviceImages(read("piped.o")).count(80), 1u);
}

TEST_F(HostileRecords, recordThatOthersMayWrite_isNotUsedAndTheLogSaysSo) {
  ASSERT_EQ(::chmod(path(recordPath()).c_str(), 0664), 0);
  expectRightObject("a record that the group may write");
  EXPECT_TRUE(logSays("has mode 0664, expected one that other users cannot write: run `chmod"))
      << log();
  // A record that is written again belongs to this user alone.
  build(Object);
  expectRightObject("afterwards");
  EXPECT_TRUE(logSays("made from the store")) << log();
}

TEST_F(HostileRecords, storeThatOthersMayWrite_isNotUsedAndTheLogSaysSo) {
  for (const char *Folder : {"store", "store/units"}) {
    ASSERT_EQ(::chmod(path(Folder).c_str(), 0777), 0);
    expectRightObject(Folder);
    EXPECT_TRUE(logSays("the store is not used: " + path(Folder) + " has mode 0777")) << log();
    CommandResult R = carve({"store", "stats"});
    EXPECT_FALSE(R.succeeded());
    EXPECT_NE(R.Stderr.find("chmod -R go-w " + path(Folder)), std::string::npos) << R.Stderr;
    ASSERT_EQ(::chmod(path(Folder).c_str(), 0755), 0);
  }
  expectRightObject("afterwards");
  EXPECT_TRUE(logSays("made from the store")) << log();
}

TEST_F(HostileRecords, recordOfAnotherUser_isNotUsed) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(::chown(path(recordPath()).c_str(), 12345, 0), 0);
  expectRightObject("a record of another user");
  EXPECT_TRUE(logSays("is owned by user 12345, expected 0")) << log();
}

TEST_F(HostileRecords, store_madeUnderAUmaskThatLetsTheGroupWrite_isUsed) {
  auto Build = [&](const Words &Environment) {
    Words Argv = {"sh", "-c", "umask 002; exec \"$0\" \"$@\"", CARVE_NVCC_PROGRAM};
    Argv.insert(Argv.end(), Object.begin(), Object.end());
    llvm::sys::fs::remove(path("carve.log"));
    EXPECT_TRUE(run(Argv, environment(Environment)).succeeded());
  };
  const std::string Store = "CARVE_STORE=" + path("team/store");
  Build({Store});
  Build({Store, withProfile()[0]});
  EXPECT_TRUE(logSays("made from the store")) << log();
  EXPECT_TRUE(carve({"store", "verify"}, {Store}).succeeded());
}
