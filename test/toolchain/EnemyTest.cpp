// Takes away the store, the disk or the process. The result is nvcc's output or the tuned one,
// complete, and a later build is not affected.
#include "BuiltTools.h"
#include "Store/StoreUpkeep.h"

#include "llvm/Support/Program.h"

#include <thread>
#include <unistd.h>

using namespace carve;

namespace {

class Enemy : public BuiltToolsTest {
protected:
  const Words Object = {"-O3",      "-arch=sm_90", "--no-compress", "-c",
                        "three.cu", "-o",          "out/three.o"};
  const Words Program = {"-O3", "-arch=sm_90", "--no-compress", "three.cu", "-o", "out/app"};
  const Words WithProfile = {"CARVE_PROFILE=" + path("profile.yaml")};

  void SetUp() override {
    BuiltToolsTest::SetUp();
    if (IsSkipped())
      return;
    keepKernels({"bulky", "hidden"});
    writeProfile(BulkyName, BulkyCap);
    ASSERT_FALSE(llvm::sys::fs::create_directory(path("out")));
  }

  /// Runs \p Script in a mount namespace of its own with a file system of \p Kilobytes at \p Dir.
  /// $0 is carve-nvcc. Returns nothing if the machine does not allow it.
  std::optional<CommandResult> onSmallDisk(const std::string &Dir, unsigned Kilobytes,
                                           const std::string &Script, const Words &Arguments);
  /// Checks that \p Name, if it exists, is a complete output with or without the cap.
  void expectWhole(const std::string &Name);
  /// Kills carve-nvcc at \p Times moments spread over the run of \p Arguments, either alone or with
  /// all its children.
  void killMany(const Words &Arguments, const std::string &Output, unsigned Times, bool Alone);
  void killAt(const Words &Arguments, double Seconds, bool Alone);
};

std::optional<CommandResult> Enemy::onSmallDisk(const std::string &Dir, unsigned Kilobytes,
                                                const std::string &Script, const Words &Arguments) {
  constexpr int NotAllowed = 99;
  std::string Mount = "mount -t tmpfs -o size=" + std::to_string(Kilobytes) + "k none '" +
                      path(Dir) + "' 2>/dev/null || exit " + std::to_string(NotAllowed) + "; ";
  Words Argv = {"unshare"};
  if (::geteuid() != 0)
    Argv.push_back("--map-root-user");
  Argv.insert(Argv.end(), {"--mount", "sh", "-c", Mount + Script, CARVE_NVCC_PROGRAM});
  Argv.insert(Argv.end(), Arguments.begin(), Arguments.end());
  CommandResult R = run(Argv, environment(WithProfile));
  if (R.ExitStatus != NotAllowed && !llvm::StringRef(R.Stderr).starts_with("unshare:"))
    return R;
  std::fprintf(stderr, "a small file system cannot be mounted here: not tried\n");
  return std::nullopt;
}

void Enemy::expectWhole(const std::string &Name) {
  if (!exists(Name))
    return;
  ImageKernels Kernels = kernelsOf(Name);
  EXPECT_EQ(Kernels.size(), 2u);
  if (llvm::StringRef(Name).ends_with(".o"))
    buildPlain({Name, "-o", "out/linked"});
  else
    EXPECT_TRUE(run({"readelf", "-hlSW", Name}).Stderr.empty());
}

void Enemy::killAt(const Words &Arguments, double Seconds, bool Alone) {
  Command C;
  if (Alone)
    C.Argv = {"timeout", "--foreground", "-s", "KILL", std::to_string(Seconds)};
  else
    C.TimeoutS = Seconds;
  C.Argv.push_back(CARVE_NVCC_PROGRAM);
  C.Argv.insert(C.Argv.end(), Arguments.begin(), Arguments.end());
  C.Dir = Work.path();
  C.Environment = environment(WithProfile);
  C.StdinPath = "/dev/null";
  C.CaptureStdout = C.CaptureStderr = true; // Captured until the last orphan closes them.
  llvm::cantFail(Runner.run(C).takeError());
}

void Enemy::killMany(const Words &Arguments, const std::string &Output, unsigned Times,
                     bool Alone) {
  CommandResult Whole = carveNvcc(Arguments, WithProfile);
  ASSERT_TRUE(Whole.succeeded()) << Whole.Stderr;
  std::string Wanted = stripped(Output);
  for (unsigned I = 0; I < Times; ++I) {
    SCOPED_TRACE(I);
    if (I % 2)
      llvm::sys::fs::remove(path(Output)); // Otherwise the older, complete one is there.
    // Most of the moments are in the second half, in which carve-nvcc works and nvcc does not.
    double Part = I % 3 ? 0.5 + 0.5 * I / Times : 0.5 * I / Times;
    killAt(Arguments, Whole.WallS * Part, Alone);
    expectWhole(Output);
  }
  llvm::sys::fs::remove_directories(path("tmp"));
  ASSERT_FALSE(llvm::sys::fs::create_directory(path("tmp")));
  ASSERT_TRUE(carveNvcc(Arguments, WithProfile).succeeded());
  EXPECT_TRUE(stripped(Output) == Wanted) << log();
  EXPECT_TRUE(carve({"store", "verify"}).succeeded());
}

} // namespace

TEST_F(Enemy, compile_killedWithItsChildren_leavesNothingIncomplete) {
  killMany(Object, "out/three.o", 6, /*Alone=*/false);
}

TEST_F(Enemy, compile_killedAlone_leavesNothingIncomplete) {
  killMany(Object, "out/three.o", 4, /*Alone=*/true);
}

TEST_F(Enemy, programBuild_killed_leavesNothingIncomplete) {
  killMany(Program, "out/app", 5, /*Alone=*/false);
}

TEST_F(Enemy, store_missing_profileStillHolds) {
  write("file", "");
  for (const std::string &Root : {path("file"), std::string("/proc/none/store")}) {
    build(Object, {"CARVE_STORE=" + Root, WithProfile[0]});
    EXPECT_EQ(kernelsOf("out/three.o")[Bulky].Resources.RegsPerThread, BulkyCap) << log();
  }
  EXPECT_EQ(read("file"), "");
}

TEST_F(Enemy, store_readOnly_isReadAndUnchanged) {
  build(Object);
  std::string Before = run({"sh", "-c", "find store -type f | sort | xargs cksum"}).Stdout;
  auto R = onSmallDisk(
      "tmp", 20000, "mount --bind store store && mount -o remount,bind,ro store && \"$0\" \"$@\"",
      Object);
  if (!R)
    return;
  EXPECT_TRUE(R->succeeded() && R->Stdout.empty() && R->Stderr.empty()) << R->Stderr << log();
  EXPECT_EQ(kernelsOf("out/three.o")[Bulky].Resources.RegsPerThread, BulkyCap) << log();
  EXPECT_EQ(run({"sh", "-c", "find store -type f | sort | xargs cksum"}).Stdout, Before);
}

TEST_F(Enemy, store_onAFullDisk_compileSucceeds) {
  ASSERT_FALSE(llvm::sys::fs::create_directory(path("store")));
  for (unsigned Kilobytes : {4u, 64u}) {
    SCOPED_TRACE(Kilobytes);
    auto R = onSmallDisk("store", Kilobytes, "\"$0\" \"$@\"", Object);
    if (!R)
      return;
    EXPECT_TRUE(R->succeeded() && R->Stdout.empty() && R->Stderr.empty()) << R->Stderr << log();
    expectWhole("out/three.o");
  }
}

// If only nvcc's object fits on the disk, it stays, complete. If even less fits, nvcc itself fails.
TEST_F(Enemy, output_onAFullDisk_isNvccsOrNone) {
  buildPlain(Object);
  std::string Plain = read("out/three.o");
  unsigned Kilobytes = Plain.size() / 1024 + 8;
  const std::string Copy = "\"$0\" \"$@\"; S=$?; ls out >listed; cp out/three.o copied.o; exit $S";
  auto R = onSmallDisk("out", Kilobytes, Copy, Object);
  if (!R)
    return;
  EXPECT_TRUE(R->succeeded() && R->Stdout.empty() && R->Stderr.empty()) << R->Stderr << log();
  EXPECT_EQ(read("listed"), "three.o\n") << log();
  write("out/three.o", Plain);
  std::string Wanted = stripped("out/three.o");
  EXPECT_TRUE(stripped("copied.o") == Wanted);
  EXPECT_TRUE(logSays("No space left")) << log();

  R = onSmallDisk("out", Kilobytes / 2, "\"$0\" \"$@\"; S=$?; ls out >listed; exit $S", Object);
  ASSERT_TRUE(R);
  EXPECT_EQ(R->ExitStatus, 1);
  EXPECT_NE(R->Stderr, "");
  EXPECT_EQ(read("listed"), "");
}

TEST_F(Enemy, compiles_inParallel_shareAStore) {
  std::vector<std::thread> Threads;
  constexpr size_t Shared = 4; // The first of the two that make the same output in one place.
  std::vector<CommandResult> Results(Shared + 2);
  for (size_t I = 0; I < Results.size(); ++I)
    Threads.emplace_back([&, I] {
      Words Argv = {CARVE_NVCC_PROGRAM, "-arch=sm_90", "--no-compress", "-c", "three.cu", "-o"};
      Argv.push_back("out/" + std::to_string(std::min(I, Shared)) + ".o");
      Results[I] = run(Argv, environment(WithProfile));
    });
  for (std::thread &T : Threads)
    T.join();
  for (size_t I = 0; I < Results.size(); ++I) {
    EXPECT_TRUE(Results[I].succeeded() && Results[I].Stderr.empty()) << Results[I].Stderr;
    ImageKernels Kernels = kernelsOf("out/" + std::to_string(std::min(I, Shared)) + ".o");
    // The one that comes second hands over to nvcc.
    EXPECT_TRUE(I >= Shared || Kernels[Bulky].Resources.RegsPerThread == BulkyCap) << I;
  }
  EXPECT_EQ(storeStats(store()).Units, Shared + 1);
  CommandResult Verified = carve({"store", "verify"});
  EXPECT_TRUE(Verified.succeeded()) << Verified.Stdout << Verified.Stderr;
  expectNoTemporaries();
}

TEST_F(Enemy, commands_withTheSameOutput_doNotMix) {
  Words Other = Object;
  Other[1] = "-arch=sm_80";
  for (int I = 0; I < 2; ++I) {
    std::thread Second([&] {
      Words Argv = Other;
      Argv.insert(Argv.begin(), CARVE_NVCC_PROGRAM);
      EXPECT_TRUE(run(Argv, environment(WithProfile)).succeeded());
    });
    EXPECT_TRUE(carveNvcc(Object, WithProfile).succeeded());
    Second.join();
    ImageKernels Kernels = kernelsOf("out/three.o");
    EXPECT_EQ(Kernels[Bulky].Resources.RegsPerThread, BulkyCap);
    expectNoTemporaries();
  }
}

TEST_F(Enemy, tunings_inParallel_shareStoreAndProfile) {
  build(Object);
  constexpr char Samples[] = CARVE_TEST_INPUTS "/samples/three.samples";
  std::vector<std::thread> Threads;
  std::vector<CommandResult> Results(2);
  for (CommandResult &R : Results)
    Threads.emplace_back([&] {
      R = run({CARVE_PROGRAM, "tune", std::string("--samples=") + Samples, "--profile=tuned.yaml",
               "--", "./app"},
              environment({}));
    });
  for (std::thread &T : Threads)
    T.join();
  for (const CommandResult &R : Results)
    EXPECT_TRUE(R.succeeded()) << R.Stderr;
  EXPECT_EQ(storeStats(store()).Reports, 2u);
  EXPECT_TRUE(carve({"store", "verify"}).succeeded());
  build(Object, {"CARVE_PROFILE=tuned.yaml"});
  EXPECT_EQ(kernelsOf("out/three.o")[Bulky].Resources.RegsPerThread, BulkyCap) << log();
}

// The tuning puts nvcc's object into place, although nvcc wrote it elsewhere because of the
// decisions.
TEST_F(Enemy, tunedAgain_withDecisions_emitsThem) {
  Words Tuning = Object;
  Tuning.push_back(std::string("--carve-samples=") + CARVE_TEST_INPUTS "/samples/three.samples");
  build(Tuning);
  llvm::sys::fs::remove_directories(path("store/attempts"));
  build(Tuning);
  EXPECT_FALSE(logSays("nvcc's output kept")) << log();
  EXPECT_EQ(kernelsOf("out/three.o")[Bulky].Resources.RegsPerThread, BulkyCap) << log();
  EXPECT_EQ(storeStats(store()).Reports, 2u);
}

// Every file of the store is damaged in turn: cut in half, emptied, overwritten.
TEST_F(Enemy, store_withDamagedFiles_isRepaired) {
  Words Tuning = Object;
  Tuning.push_back(std::string("--carve-samples=") + CARVE_TEST_INPUTS "/samples/three.samples");
  build(Tuning);
  ASSERT_EQ(kernelsOf("out/three.o")[Bulky].Resources.RegsPerThread, BulkyCap) << log();
  std::vector<std::string> Files;
  std::error_code Failed;
  for (llvm::sys::fs::recursive_directory_iterator It(path("store"), Failed), End;
       It != End && !Failed; It.increment(Failed))
    if (llvm::sys::fs::is_regular_file(It->path()))
      Files.push_back(It->path().substr(Work.path().size() + 1));
  ASSERT_GE(Files.size(), 6u);
  for (int Way = 0; Way < 3; ++Way) {
    SCOPED_TRACE(Way);
    for (const std::string &File : Files) {
      std::string Bytes = exists(File) ? read(File) : "";
      write(File, Way == 0 ? Bytes.substr(0, Bytes.size() / 2) : Way == 1 ? "" : "\xff\0garbage{[");
    }
    EXPECT_EQ(carve({"store", "verify"}).ExitStatus, 1);
    build(Object);
    expectWhole("out/three.o");
    EXPECT_TRUE(carve({"store", "verify", "--repair"}).succeeded());
    EXPECT_TRUE(carve({"store", "verify"}).succeeded());
    build(Tuning);
    EXPECT_EQ(kernelsOf("out/three.o")[Bulky].Resources.RegsPerThread, BulkyCap) << log();
  }
}

TEST_F(Enemy, nvcc_missing_isOneMessage) {
  CommandResult R = run({CARVE_NVCC_PROGRAM, "-c", "three.cu"},
                        environment({"CARVE_NVCC=" + path("nowhere"), "PATH=/none",
                                     "CUDA_PATH=/none", "CUDA_HOME=/none"}));
  EXPECT_EQ(R.ExitStatus, 1);
  EXPECT_TRUE(llvm::StringRef(R.Stderr).starts_with("carve-nvcc: error: ")) << R.Stderr;
  EXPECT_EQ(llvm::StringRef(R.Stderr).count('\n'), 1u) << R.Stderr;
  EXPECT_FALSE(exists("three.o"));
}
