// Captures of launches: taken from a program, launched without it in other processes, and used for
// tuning.
#include "Captures/File/CaptureFile.h"
#include "GpuTesting.h"
#include "Store/StoreUpkeep.h"

#include "llvm/Support/FileSystem.h"

#include <set>

using namespace carve;
using namespace carve::test;

namespace {

class CaptureGpuTest : public GpuTest {
protected:
  static bool has(const std::string &Text, const std::string &Part) {
    return Text.find(Part) != std::string::npos;
  }

  /// Builds \p Source in \p P, captures what it launches and removes the program. Returns the paths
  /// of the captures.
  static Words captured(Project &P, const std::string &Source, Words More = {}) {
    P.compile({"-O2", "-arch=" + TestArch, "-o", P.path("app"), Source});
    Words Arguments = {"capture", "-o", P.path("captures")};
    Arguments.insert(Arguments.end(), More.begin(), More.end());
    Arguments.insert(Arguments.end(), {"--", P.path("app")});
    CommandResult R = P.carve(Arguments);
    EXPECT_EQ(R.ExitStatus, 0) << R.Stdout << R.Stderr;
    EXPECT_TRUE(has(R.Stdout, "launched alone: output equal\n")) << R.Stdout;
    llvm::sys::fs::remove(P.path("app"));
    Words Paths;
    std::error_code E;
    for (llvm::sys::fs::directory_iterator I(P.path("captures"), E), End; !E && I != End;
         I.increment(E))
      Paths.push_back(I->path());
    llvm::sort(Paths);
    return Paths;
  }

  const std::string Apps = machine().Sources + "/apps/";
};

} // namespace

TEST_F(CaptureGpuTest, capture_isLaunchedWithoutTheProgramInManyProcesses) {
  Project P("captured");
  Words Paths = captured(P, Apps + "captured.cu");
  ASSERT_EQ(Paths.size(), 1u) << "and nothing half-written";
  // The system places libraries at other addresses in every process.
  for (int I = 0; I < 10; ++I) {
    CommandResult R = run({machine().tool("carve-launch"), Paths[0]});
    EXPECT_EQ(R.ExitStatus, 0) << R.Stderr;
    EXPECT_TRUE(has(R.Stdout, "output equal\n")) << R.Stdout << R.Stderr;
  }
  CaptureReader Reader = llvm::cantFail(CaptureReader::open(Paths[0]));
  const Capture &C = Reader.capture();
  EXPECT_EQ(C.Launch, 4u) << "of nine";
  EXPECT_EQ(C.Shape.DynamicSmemBytes, 64u << 10);
  EXPECT_EQ(C.Attributes.at("max-dynamic-smem"), 64u << 10);
  EXPECT_EQ(C.Parameters.size(), 3u);
  std::set<std::string> Variables;
  for (const CapturedVariable &V : C.Variables)
    Variables.insert(V.Name);
  EXPECT_EQ(Variables, (std::set<std::string>{"Factors", "Seen", "Table"}));
  EXPECT_EQ(C.Units.size(), 1u);
}

TEST_F(CaptureGpuTest, severalKernelsAndLaunches_areCaptured) {
  Project P("basic_captures");
  Words Paths = captured(P, Apps + "basic.cu", {"--launches=2"});
  EXPECT_EQ(Paths.size(), 4u);
  Words Launch = {machine().tool("carve-launch"), "--repeat=2"};
  Launch.insert(Launch.end(), Paths.begin(), Paths.end());
  CommandResult R = run(Launch);
  EXPECT_EQ(R.ExitStatus, 0) << R.Stderr;
  EXPECT_EQ(llvm::StringRef(R.Stdout).count("output equal\n"), 4u) << R.Stdout;
}

TEST_F(CaptureGpuTest, kernelsOfGraphs_areCaptured) {
  Project P("graph_captures");
  Words Paths = captured(P, Apps + "graph.cu", {"--launches=2"});
  EXPECT_EQ(Paths.size(), 4u) << "of a captured graph and of one that was built node by node";
  Words Launch = {machine().tool("carve-launch")};
  Launch.insert(Launch.end(), Paths.begin(), Paths.end());
  CommandResult R = run(Launch);
  EXPECT_EQ(R.ExitStatus, 0) << R.Stderr;
  EXPECT_EQ(llvm::StringRef(R.Stdout).count("output equal\n"), 4u) << R.Stdout;
}

TEST_F(CaptureGpuTest, kernelOfAGraphThatStaysOne_isRefusedWithItsReason) {
  Project P("graph_memory_capture");
  P.compile({"-O2", "-arch=" + TestArch, "-o", P.path("app"), Apps + "hazards/graph_memory.cu"});
  CommandResult R = P.carve({"capture", "-o", P.path("c"), "--", P.path("app")});
  EXPECT_TRUE(has(R.Stdout, "launched from graphs with nodes that allocate or free memory"))
      << R.Stdout << R.Stderr;
}

TEST_F(CaptureGpuTest, launchThatCannotBeRepeated_isRefused) {
  Project P("refused");
  P.compile({"-O2", "-arch=" + TestArch, "-o", P.path("app"), Apps + "captured.cu"});
  CommandResult R = P.carve({"capture", "-o", P.path("c"), "--", P.path("app"), "pointer"});
  EXPECT_NE(R.ExitStatus, 0);
  EXPECT_TRUE(has(R.Stdout, "points into the variable Table")) << R.Stdout << R.Stderr;
  R = P.carve({"capture", "-o", P.path("c"), "--", P.path("app"), "texture"});
  EXPECT_TRUE(has(R.Stdout, "the program uses textures")) << R.Stdout << R.Stderr;
  EXPECT_EQ(run({"/bin/ls", "-A", P.path("c")}).Stdout, "");
}

TEST_F(CaptureGpuTest, capturedProgram_computesTheSame) {
  Project P("undisturbed");
  CommandResult Plain = run({program("captured")});
  CommandResult R = P.carve({"capture", "--no-check", "-o", P.path("c"), "--", "/bin/sh", "-c",
                             program("captured") + " > " + P.path("out")});
  EXPECT_EQ(R.ExitStatus, 0) << R.Stdout << R.Stderr;
  EXPECT_EQ(valueOf(readFile(P.path("out"))), Plain.Stdout);
}

TEST_F(CaptureGpuTest, damagedCapture_isNamed) {
  Project P("damaged");
  Words Paths = captured(P, Apps + "captured.cu");
  ASSERT_EQ(Paths.size(), 1u);
  std::string Bytes = valueOf(readFile(Paths[0]));
  // What the launch reads comes after the first line. A launch does not read what only tuning
  // needs.
  char &First = Bytes[Bytes.find('\n') + 1];
  First = char(~First);
  llvm::cantFail(writeFileAtomically(Paths[0], Bytes));
  CommandResult R = run({machine().tool("carve-launch"), Paths[0]});
  EXPECT_EQ(R.ExitStatus, 1);
  EXPECT_TRUE(has(R.Stderr, Paths[0] + ": damaged: ")) << R.Stderr;
}

/// Uses a store that has never seen the source, as on another machine.
TEST_F(CaptureGpuTest, capture_isTunedWithoutSourceAndProgram) {
  Project Here("capture_here"), There("capture_there");
  Words Paths = captured(Here, Apps + "pressed.cu");
  ASSERT_EQ(Paths.size(), 1u);
  CommandResult R = There.carve({"tune", "--max-runs=60", "--from", Paths[0]});
  EXPECT_EQ(R.ExitStatus, 0) << R.Stdout << R.Stderr;
  TuningReport Report = There.report();
  EXPECT_EQ(Report.Note, "") << There.log();
  ASSERT_EQ(Report.Kernels.size(), 1u);
  EXPECT_TRUE(Report.Kernels[0].Tuned) << Report.Kernels[0].Reason.text();
  // A build of the source with that store gets what was decided there.
  EXPECT_EQ(storeStats(There.store()).Units, 1u);
  EXPECT_EQ(storeStats(There.store()).Decisions, 1u);
}
