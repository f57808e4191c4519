// The files that the probe leaves of a captured launch, on the stand-in driver.
#include "Probe/Capture/CapturePlan.h"
#include "Probe/Memory/PointerScan.h"
#include "Support/Digest.h"
#include "Support/Files.h"
#include "unit/Probe/ProbeRecords.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace carve;
using namespace carve::probe;
using namespace carve::probe::test;

namespace {

/// Runs a scenario once with one wish.
class CaptureRunTest : public testing::Test {
protected:
  void capture(const std::string &Scenario, const std::string &Kernel, unsigned Launch,
               const std::string &Grid = "16,1,1") {
    ProbeRun Without;
    Without.setEnvironment("CUDA_INJECTION64_PATH");
    std::string Plain = Without.run(CARVE_TEST_STANDIN_PROGRAM, {Scenario}).Stdout;
    std::string Wishes = "carve-capture-plan\t1\ndirectory\t" + Run.path("raw") + "\ncapture\t" +
                         Kernel + "\t" + Grid + "\t64,1,1\t0\t1,1,1\t" + std::to_string(Launch) +
                         "\n";
    llvm::sys::fs::create_directory(Run.path("raw"));
    Run.setEnvironment("CARVE_PROBE_CAPTURE=" + Run.writeFile("wishes", Wishes));
    CommandResult Result = Run.run(CARVE_TEST_STANDIN_PROGRAM, {Scenario});
    EXPECT_EQ(Result.Stderr, "");
    EXPECT_EQ(Result.Stdout, Plain) << "the program computes what it always does";
    EXPECT_EQ(Result.ExitStatus, 0);
    Records Only = Run.onlyFile();
    EXPECT_TRUE(Only.whole());
    Pid = Only.Lines.front()[2];
  }

  std::string file(const std::string &Name) const {
    llvm::Expected<std::string> Bytes = readFile(Run.path("raw/" + Pid + "-0" + Name));
    if (Bytes)
      return *Bytes;
    llvm::consumeError(Bytes.takeError());
    return "(none)";
  }

  /// Returns the lines of `launch` that begin with \p Kind, without that word.
  std::vector<Fields> lines(const std::string &Kind) const {
    std::vector<Fields> Result;
    std::string Text = file("/launch");
    llvm::SmallVector<llvm::StringRef, 0> All, Words;
    llvm::StringRef(Text).split(All, '\n');
    for (llvm::StringRef Line : All) {
      Words.clear();
      Line.split(Words, '\t');
      if (Words.front() == Kind)
        Result.emplace_back(Words.begin() + 1, Words.end());
    }
    return Result;
  }

  /// Expects that the capture is one of `step`: \p Ranges ranges of memory before the launch, and
  /// the digests of what the kernel makes of them.
  void expectStep(size_t Ranges) const;

  ProbeRun Run;
  std::string Pid;
};

template <class T> T valueOf(const std::string &Hex) {
  std::string Bytes = llvm::fromHex(Hex);
  T Value{};
  EXPECT_EQ(Bytes.size(), sizeof Value);
  std::memcpy(&Value, Bytes.data(), std::min(sizeof Value, Bytes.size()));
  return Value;
}

void CaptureRunTest::expectStep(size_t RangeCount) const {
  EXPECT_EQ(file(".refused"), "(none)");
  std::vector<Fields> Ranges = lines("range"), After = lines("after"), P = lines("parameter");
  ASSERT_EQ(Ranges.size(), RangeCount);
  ASSERT_EQ(lines("variable"),
            (std::vector<Fields>{{"Counter", "64"}, {"Locks", "8"}, {"Table", "8"}}));
  ASSERT_EQ(After.size(), RangeCount + 3); // And the variables.
  ASSERT_EQ(P.size(), 2u);
  EXPECT_EQ(P[1][0], "8") << "offset of the second parameter";
  auto Base = valueOf<uint64_t>(P[0][1]);
  auto Count = valueOf<unsigned>(P[1][1]);
  std::string Memory = file("/memory");
  size_t At = 0, Seen = 0;
  for (size_t R = 0; R < Ranges.size(); ++R) {
    size_t Bytes = std::stoull(Ranges[R][1]);
    ASSERT_LE(At + Bytes, Memory.size());
    std::string Before = Memory.substr(At, Bytes);
    At += Bytes;
    ASSERT_EQ(After[R].size(), 1u);
    if (std::stoull(Ranges[R][0]) != Base) {
      EXPECT_EQ(After[R][0], digestOf(Before)) << "the kernel does not write it";
      continue;
    }
    ++Seen;
    std::vector<float> Data(Bytes / sizeof(float));
    std::memcpy(Data.data(), Before.data(), Bytes);
    for (unsigned I = 0; I < Count; ++I)
      Data[I] = Data[I] * 0.75f + float(I % 7) * 0.125f;
    EXPECT_EQ(After[R][0],
              digestOf({reinterpret_cast<const char *>(Data.data()), Data.size() * 4}));
  }
  ASSERT_EQ(At + 64 + 8 + 8, Memory.size());
  EXPECT_EQ(After[RangeCount], Fields{digestOf(Memory.substr(At, 64))}) << "of Counter";
  EXPECT_EQ(After[RangeCount + 1], Fields{digestOf(Memory.substr(At + 64, 8))}) << "of Locks";
  EXPECT_EQ(Seen, 1u);
  std::vector<Fields> Container = lines("container");
  ASSERT_EQ(Container.size(), 1u);
  EXPECT_EQ(Container[0][0], digestOf(file("/container")));
  EXPECT_EQ(Container[0][2], "cuLibraryLoadData");
}

} // namespace

TEST_F(CaptureRunTest, capture_hasMemoryBeforeAndDigestsAfter) {
  capture("in-place", "step", 3);
  EXPECT_EQ(lines("kernel"),
            (std::vector<Fields>{{"step", "16,1,1", "64,1,1", "0", "1,1,1", "0", "3"}}));
  expectStep(2);
}

TEST_F(CaptureRunTest, launchOfAGraph_isCaptured) {
  // The seventh of ten, by the first node of the fourth launch of the graph.
  capture("graph-steps", "step", 6);
  EXPECT_EQ(lines("kernel"),
            (std::vector<Fields>{{"step", "16,1,1", "64,1,1", "0", "1,1,1", "0", "6"}}));
  expectStep(2);
}

TEST_F(CaptureRunTest, launchOfARandomGraph_isCaptured) {
  capture("random-graphs", "step", 700);
  ASSERT_EQ(lines("kernel").size(), 1u) << file(".refused");
  EXPECT_EQ(lines("kernel")[0][6], "700");
}

TEST_F(CaptureRunTest, graphThatStaysOne_isNotCapturedAndLeavesItsReason) {
  for (auto [Scenario, Reason] : {std::pair{"pageable-copy", "pageable-copy"},
                                  {"device-launched", "device-launch"},
                                  {"graph-contexts", "other-context"},
                                  {"graph-semaphores", "semaphore"},
                                  {"graph-memory-operations", "memory-operation"}}) {
    SCOPED_TRACE(Scenario);
    Run = ProbeRun();
    capture(Scenario, "step", 0);
    EXPECT_EQ(file("/launch"), "(none)");
    std::vector<Fields> Stays = Run.onlyFile().of("graph-stays");
    ASSERT_FALSE(Stays.empty());
    EXPECT_EQ(Stays.back(), (Fields{"step", Reason}));
    EXPECT_EQ(Stays.front()[1], Reason);
  }
}

TEST_F(CaptureRunTest, wishWithShape_capturesThatShape) {
  capture("deterministic", "scale", 1, "8,1,1");
  ASSERT_EQ(lines("kernel").size(), 1u);
  EXPECT_EQ(lines("kernel")[0][1], "8,1,1");
}

TEST_F(CaptureRunTest, otherThreads_doNotDisturbTheCapture) {
  capture("threads", "step", 5);
  EXPECT_EQ(lines("kernel").size(), 1u) << file(".refused");
}

TEST_F(CaptureRunTest, mappedMemory_isCaptured) {
  capture("mapped", "step", 0);
  std::vector<Fields> Ranges = lines("range"), P = lines("parameter");
  ASSERT_EQ(Ranges.size(), 2u) << file(".refused");
  auto Base = std::to_string(valueOf<uint64_t>(P.at(0)[1]));
  EXPECT_EQ(Ranges[Ranges[1][0] == Base][0], Base);
  EXPECT_EQ(Ranges[Ranges[1][0] == Base][2], "mapped");
}

TEST_F(CaptureRunTest, memoryThatTheHostShares_isRefused) {
  capture("managed", "step", 0);
  EXPECT_EQ(file(".refused").rfind("a parameter points into managed memory (0x", 0), 0u)
      << file(".refused");
  EXPECT_EQ(file("/memory"), "(none)");
}

TEST_F(CaptureRunTest, memoryOfTheHost_isRefused) {
  capture("host-mapped", "step", 0);
  EXPECT_EQ(file(".refused").rfind("a parameter points into host memory (0x", 0), 0u)
      << file(".refused");
}

TEST_F(CaptureRunTest, pointerInMemory_isFound) {
  capture("host-hidden", "scale", 1);
  std::string Why = file(".refused");
  EXPECT_EQ(Why.rfind("the memory at 0x", 0), 0u) << Why;
  EXPECT_NE(Why.find(" points into host memory (0x"), std::string::npos) << Why;
}

TEST_F(CaptureRunTest, launchThatDoesNotCome_leavesNothing) {
  capture("in-place", "step", 100000);
  EXPECT_EQ(file("/launch"), "(none)");
  EXPECT_EQ(file(".refused"), "(none)");
}

TEST(CapturePlan, read_wrongLine_fails) {
  ProbeRun Run;
  const std::string Head = "carve-capture-plan\t1\ndirectory\t/d\n",
                    Wish = "capture\tk\t4,1,1\t64,2,1\t16\t2,1,1\t5";
  CapturePlan P;
  EXPECT_TRUE(P.read(Run.writeFile("good", Head + Wish + "\n").c_str()));
  ASSERT_EQ(P.Wishes.size(), 1u);
  EXPECT_EQ(P.Wishes[0].Kernel, "k");
  EXPECT_EQ(P.Wishes[0].Shape, (LaunchShape{{4, 1, 1}, {64, 2, 1}, 16, {2, 1, 1}}));
  EXPECT_EQ(P.Wishes[0].Launch, 5u);
  EXPECT_EQ(P.Directory, "/d");
  for (const std::string &Bad :
       {Head, Head + Wish + "\tmore\n", Head + "capture\tk\t4,1\t64,2,1\t16\t2,1,1\t5\n",
        Head + "other\n", "carve-capture-plan\t2\ndirectory\t/d\n" + Wish + "\n",
        "carve-capture-plan\t1\n" + Wish + "\n"})
    EXPECT_FALSE(CapturePlan().read(Run.writeFile("bad", Bad).c_str())) << Bad;
  EXPECT_FALSE(CapturePlan().read("/none"));
}

TEST(PointerScan, find_alignedWordWithinARange_isHit) {
  PointerScan S;
  uint64_t Words[] = {0, 999, 1000, 1099, 1100, 5000};
  EXPECT_FALSE(S.find(Words, sizeof Words));
  S.forbid(5000, 1, "five");
  S.forbid(1000, 100, "one");
  S.prepare();
  auto Hit = S.find(Words, sizeof Words);
  ASSERT_TRUE(Hit);
  EXPECT_EQ(Hit->Offset, 16u);
  EXPECT_EQ(*Hit->What, "one");
  Hit = S.find(Words + 4, 16);
  ASSERT_TRUE(Hit);
  EXPECT_EQ(*Hit->What, "five");
  EXPECT_FALSE(S.find(Words + 4, 15)) << "half a word is none";
  EXPECT_FALSE(S.find(Words, 16));
}
