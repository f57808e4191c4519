// carve-launch with captures made here, and a stand-in for the driver.

#include "Captures/File/CaptureFile.h"
#include "Support/CommandRunner.h"
#include "Support/Digest.h"
#include "Support/Files.h"

#include "gtest/gtest.h"

using namespace carve;

namespace {

// Address lies between addresses that the driver gives, and shares a region with Near.
constexpr uint64_t Address = 0x500000200200, Near = 0x500001c00000, Far = 0x510000000000;

template <typename T> std::string bytesOf(const T &Value) {
  return std::string(reinterpret_cast<const char *>(&Value), sizeof Value);
}

std::vector<std::string> digestsOf(llvm::StringRef Bytes) {
  std::vector<std::string> Result;
  for (size_t I = 0; I < Bytes.size(); I += CaptureChunkBytes)
    Result.push_back(digestOf(Bytes.substr(I, CaptureChunkBytes)));
  return Result;
}

class LaunchTest : public testing::Test {
protected:
  LaunchTest() : Dir(llvm::cantFail(TempDir::create("carve-launch-test"))) {}

  /// Writes a capture of \p Kernel over 3 MiB and some bytes. The bytes are 7 before the launch and
  /// \p After after it. Returns its path.
  std::string capture(const std::string &Kernel, char After, const std::string &Name = "a",
                      const std::string &Call = "cuLibraryLoadData") {
    std::string Path = Dir.path() + "/" + Name + CaptureSuffix;
    CaptureWriter W = llvm::cantFail(CaptureWriter::create(Path));
    const size_t Bytes = (3 << 20) + 100;
    std::string Container = "stub container";
    Capture C;
    C.Kernel = Kernel;
    C.Shape.Grid = {4, 1, 1};
    C.Device = "Stub GPU";
    C.Arch = "sm_90";
    C.LoadCall = Call;
    C.ContainerDigest = digestOf(Container);
    C.Container = W.put(Container);
    C.Attributes["max-dynamic-smem"] = 1000;
    C.Parameters = {{0, bytesOf(Address)}, {8, bytesOf(uint64_t(Bytes))}};
    C.Memory = {
        {Address, "device", W.put(std::string(Bytes, 7)), digestsOf(std::string(Bytes, After))},
        {Far, "pool", W.put(std::string(10, 0)), digestsOf(std::string(10, 0))}};
    C.Variables = {{"Step", W.put("\x02"), digestsOf("\x02")}};
    llvm::cantFail(W.finish(C));
    return Path;
  }

  CommandResult launch(std::vector<std::string> Args) {
    Command C;
    C.Argv = {CARVE_LAUNCH_TOOL};
    C.Argv.insert(C.Argv.end(), Args.begin(), Args.end());
    C.Environment = {std::string("LD_LIBRARY_PATH=") + (Driver ? CARVE_STUB_CUDA_DIR : "/none"),
                     "STUB_TAKEN=" + Taken};
    C.CaptureStdout = C.CaptureStderr = true;
    return llvm::cantFail(ProcessRunner().run(C));
  }

  TempDir Dir;
  std::string Taken;
  bool Driver = true;
};

} // namespace

TEST_F(LaunchTest, equalOutput_isReported) {
  CommandResult R = launch({capture("increment", 9)});
  EXPECT_EQ(R.Stdout, "increment 4,1,1 1,1,1: output equal\n");
  EXPECT_EQ(R.Stderr, "");
  EXPECT_EQ(R.ExitStatus, 0);
}

TEST_F(LaunchTest, repeatedRuns_startFromTheCapturedMemory) {
  CommandResult R = launch({"--repeat=3", capture("increment", 9)});
  EXPECT_EQ(R.Stdout, "increment 4,1,1 1,1,1: output equal\n");
}

TEST_F(LaunchTest, moduleLoad_isDoneAsCaptured) {
  CommandResult R = launch({capture("increment", 9, "a", "cuModuleLoadData")});
  EXPECT_EQ(R.Stdout, "increment 4,1,1 1,1,1: output equal\n") << R.Stderr;
}

TEST_F(LaunchTest, otherOutput_isNamed) {
  CommandResult R = launch({capture("increment", 8)});
  EXPECT_EQ(R.Stdout, "increment 4,1,1 1,1,1: output differs: 4 MiB of 1 range(s), the first at "
                      "0x500000200200\n");
  EXPECT_EQ(R.ExitStatus, 1);
}

TEST_F(LaunchTest, varyingOutput_isReported) {
  CommandResult R = launch({capture("moody", 8)});
  EXPECT_EQ(R.Stdout, "moody 4,1,1 1,1,1: output varies from run to run\n");
  EXPECT_EQ(R.ExitStatus, 0);
}

TEST_F(LaunchTest, severalCaptures_failuresAreToldApart) {
  std::string Good = capture("increment", 9), Broken = capture("broken", 9, "b"),
              None = capture("absent", 9, "c");
  CommandResult R = launch({Broken, None, Good});
  EXPECT_EQ(R.Stdout, "increment 4,1,1 1,1,1: output equal\n");
  EXPECT_NE(R.Stderr.find(Broken + ": the kernel failed: CUDA_ERROR_ILLEGAL_ADDRESS\n"),
            std::string::npos)
      << R.Stderr;
  EXPECT_NE(R.Stderr.find(None + ": no kernel absent: CUDA_ERROR_STUB\n"), std::string::npos);
  EXPECT_NE(R.Stderr.find("2 of 3 captures failed"), std::string::npos);
  EXPECT_EQ(R.ExitStatus, 1);
}

TEST_F(LaunchTest, addressTaken_anotherProcessIsTried) {
  Taken = Dir.path() + "/taken";
  llvm::cantFail(writeFileAtomically(Taken, ""));
  CommandResult R = launch({capture("increment", 9)});
  EXPECT_EQ(R.Stdout, "increment 4,1,1 1,1,1: output equal\n");
  EXPECT_EQ(R.Stderr, "");
}

TEST_F(LaunchTest, addressNotGiven_isNamed) {
  Taken = Dir.path() + "/taken";
  llvm::cantFail(writeFileAtomically(Taken, ""));
  std::string Path = capture("increment", 9);
  CommandResult R = launch({"--alone", Path});
  EXPECT_EQ(R.Stderr, "carve-launch: error: " + Path +
                          ": cannot reserve the captured addresses, 32768 KiB at "
                          "0x500000000000: the driver gave 0x510000000000\n");
  EXPECT_EQ(R.ExitStatus, 75);
}

TEST_F(LaunchTest, damagedCapture_isNamed) {
  std::string Path = capture("increment", 9);
  std::string Bytes = llvm::cantFail(readFile(Path));
  Bytes.resize(Bytes.size() / 2);
  llvm::cantFail(writeFileAtomically(Path, Bytes));
  CommandResult R = launch({Path});
  EXPECT_EQ(R.Stderr.rfind("carve-launch: error: " + Path + ": damaged: ", 0), 0u) << R.Stderr;
  EXPECT_EQ(R.ExitStatus, 1);
}

TEST_F(LaunchTest, noDriver_fails) {
  Driver = false;
  CommandResult R = launch({capture("increment", 9)});
  EXPECT_NE(R.Stderr.find("no CUDA driver: "), std::string::npos) << R.Stderr;
  EXPECT_EQ(R.ExitStatus, 1);
}

TEST_F(LaunchTest, commandLine_mistakesAreNamed) {
  EXPECT_EQ(launch({}).ExitStatus, 1);
  EXPECT_EQ(launch({"--repeat=0", "x"}).Stderr,
            "carve-launch: error: --repeat=0: expected a number from 1\n");
  EXPECT_EQ(launch({"/none/x.carvecap"}).Stderr,
            "carve-launch: error: '/none/x.carvecap': No such file or directory\n");
  EXPECT_EQ(launch({"--help"}).ExitStatus, 0);
}
