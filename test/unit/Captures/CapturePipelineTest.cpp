#include "Captures/CapturePipeline.h"

#include "Captures/File/CaptureFile.h"
#include "Protocol/CaptureProtocol.h"
#include "Support/Digest.h"
#include "unit/Tune/TuneTesting.h"

#include "llvm/Support/FileSystem.h"

#include <csignal>

using namespace carve;

namespace {

KernelLaunches launches(const std::string &Kernel, unsigned Grid, uint64_t Count, uint64_t Ns) {
  KernelLaunches K;
  K.Kernel = Kernel;
  K.Shape.Grid = {Grid, 1, 1};
  K.Launches = Count;
  K.TotalNs = Ns;
  return K;
}

ProbeRecord trace() {
  ProbeRecord R;
  R.Processes = 1;
  R.Kernels = {launches("a", 1, 100, 3000), launches("a", 2, 10, 5000), launches("b", 3, 1, 900),
               launches("rare", 4, 1, 10)};
  return R;
}

constexpr auto All = [](llvm::StringRef) { return true; };

/// Runs a program with one kernel. If it is told what to capture, it leaves the files that the
/// probe would leave.
class CaptureRunTest : public testing::Test {
protected:
  CaptureRunTest() : Dir(llvm::cantFail(TempDir::create("carve-capture-test"))) {
    Request.Workload.Argv = {"./app"};
    Request.Directory = Dir.path() + "/out";
    Runner.Program = [this](const ProbedProgram::Run &R, CommandResult &) {
      if (auto List = R.Env.find(probe::CaptureVariable); List != R.Env.end())
        leave(valueOf(readFile(List->second)));
      return ProbeHead + kernelLine("_Z5scalePf", 600000, 10) + "end\n";
    };
  }

  void leave(llvm::StringRef Wishes) {
    std::string Folder = (Wishes.split("directory\t").second.split('\n').first + "/4711-0").str();
    EXPECT_FALSE(llvm::sys::fs::create_directory(Folder));
    auto Write = [&](const char *Name, const std::string &Text) {
      llvm::cantFail(writeFileAtomically(Folder + Name, Text));
    };
    Write("/memory", "data");
    Write("/container", "container");
    Write("/launch", "carve-captured\t1\nkernel\t_Z5scalePf\t10,1,1\t256,1,1\t64\t1,1,1\t0\t5\n"
                     "range\t4096\t4\tdevice\nafter\tx\ncontainer\t" +
                         digestOf("container") + "\t9\tcuLibraryLoadData\nend\n");
  }

  std::vector<std::string> left() const {
    std::vector<std::string> Names;
    std::error_code Failed;
    for (llvm::sys::fs::directory_iterator I(Request.Directory, Failed), End; !Failed && I != End;
         I.increment(Failed))
      Names.push_back(llvm::StringRef(I->path()).rsplit('/').second.str());
    return Names;
  }

  TempDir Dir;
  CaptureRequest Request;
  ProbedProgram Runner;
};

} // namespace

TEST(CapturePipeline, oneLaunch_isTakenFromTheMiddleOfTheDominatingShape) {
  std::vector<CaptureWish> W = chooseLaunches(trace(), {}, All);
  ASSERT_EQ(W.size(), 2u) << "the third is below 1 %";
  EXPECT_EQ(W[0].Kernel, "a");
  EXPECT_EQ(W[0].Shape.Grid[0], 2u);
  EXPECT_EQ(W[0].Launch, 5u);
  EXPECT_EQ(W[1].Kernel, "b");
  EXPECT_EQ(W[1].Launch, 0u);
}

TEST(CapturePipeline, severalLaunches_areSpread) {
  CaptureRequest Request;
  Request.Launches = 3;
  std::vector<CaptureWish> W = chooseLaunches(trace(), Request, All);
  ASSERT_EQ(W.size(), 4u) << "b has one launch";
  EXPECT_EQ(W[0].Launch, 1u);
  EXPECT_EQ(W[1].Launch, 5u);
  EXPECT_EQ(W[2].Launch, 8u);
}

TEST(CapturePipeline, launches_ofSeveralProcesses_areCountedWithinOne) {
  ProbeRecord R = trace();
  R.Processes = 4;
  std::vector<CaptureWish> W =
      chooseLaunches(R, {}, [](llvm::StringRef Kernel) { return Kernel == "a"; });
  ASSERT_EQ(W.size(), 1u);
  EXPECT_EQ(W[0].Launch, 1u);
}

TEST(CapturePipeline, captureName_hasKernelGridAndBlock) {
  EXPECT_EQ(captureName({"_Z5scalePff", {{128, 1, 1}, {256, 1, 1}}, 0}), "scale-128-256");
  EXPECT_EQ(captureName({"_ZN2ns3fooIiEEvv", {{1, 2, 1}, {8, 8, 4}}, 0}), "foo-1x2-8x8x4");
  EXPECT_EQ(captureName({"plain", {{1, 1, 3}, {1, 1, 1}}, 0}), "plain-1x1x3-1");
  EXPECT_EQ(captureName({"\xc3\xa4", {{1, 1, 1}, {1, 1, 1}}, 0}), "kernel-1-1");
}

TEST_F(CaptureRunTest, rawFiles_arePackedAndRemoved) {
  CaptureResult R = valueOf(capture(Request, UnitStore(Dir.path() + "/store"), Runner));
  ASSERT_EQ(R.Launches.size(), 1u) << R.Note;
  EXPECT_EQ(R.Launches[0].Path, Request.Directory + "/scale-10-256.carvecap");
  EXPECT_EQ(left(), std::vector<std::string>{"scale-10-256.carvecap"});
  CaptureReader Reader = llvm::cantFail(CaptureReader::open(R.Launches[0].Path));
  EXPECT_EQ(Reader.capture().MeanNs, 60000u);
}

TEST_F(CaptureRunTest, signalWhilePacking_leavesNothing) {
  // The test blocks the signal, too, so that it survives it.
  sigset_t Terminate, Before;
  ::sigemptyset(&Terminate);
  ::sigaddset(&Terminate, SIGTERM);
  ASSERT_EQ(::sigprocmask(SIG_BLOCK, &Terminate, &Before), 0);
  ASSERT_EQ(::raise(SIGTERM), 0);
  EXPECT_EQ(messageOf(capture(Request, UnitStore(Dir.path() + "/store"), Runner)),
            "interrupted: " + std::to_string(SIGTERM));
  EXPECT_EQ(left(), std::vector<std::string>{});
  int Taken = 0;
  EXPECT_EQ(::sigwait(&Terminate, &Taken), 0) << "it is still to come";
  EXPECT_EQ(Taken, SIGTERM);
  ::sigprocmask(SIG_SETMASK, &Before, nullptr);
}

/// A graph of the second kernel hangs because its nodes are launched one by one.
TEST_F(CaptureRunTest, kernelWithAFault_isLeftOutOfTheNextRun) {
  const std::string Kernels =
      kernelLine("_Z5scalePf", 600000, 10) + kernelLine("_Z4stepPf", 400000, 10);
  std::vector<std::string> Lists;
  Runner.Program = [&](const ProbedProgram::Run &R, CommandResult &Result) {
    auto List = R.Env.find(probe::CaptureVariable);
    if (List == R.Env.end())
      return ProbeHead + Kernels + "end\n";
    Lists.push_back(valueOf(readFile(List->second)));
    if (Lists.size() == 1) {
      Result.ExitStatus = probe::FaultExitStatus;
      return ProbeHead + "fault\t_Z4stepPf\tdefault\thung after 9 ms\n";
    }
    leave(Lists.back());
    return ProbeHead + Kernels + "end\n";
  };
  CaptureResult R = valueOf(capture(Request, UnitStore(Dir.path() + "/store"), Runner));
  EXPECT_EQ(R.Note, "");
  ASSERT_EQ(R.Launches.size(), 2u);
  EXPECT_EQ(R.Launches[0].Path, Request.Directory + "/scale-10-256.carvecap");
  EXPECT_EQ(R.Launches[1].Path, "");
  EXPECT_EQ(R.Launches[1].Reason, "the kernel hung after 9 ms");
  ASSERT_EQ(Lists.size(), 2u);
  EXPECT_NE(Lists[0].find("_Z4stepPf"), std::string::npos);
  EXPECT_EQ(Lists[1].find("_Z4stepPf"), std::string::npos);
  EXPECT_EQ(left(), std::vector<std::string>{"scale-10-256.carvecap"});
}

TEST_F(CaptureRunTest, launchThatDidNotOccur_hasItsGraphsReason) {
  std::string Facts;
  Runner.Program = [&](const ProbedProgram::Run &, CommandResult &) {
    return ProbeHead + kernelLine("_Z5scalePf", 600000, 10) + Facts + "end\n";
  };
  auto Reason = [&] {
    return valueOf(capture(Request, UnitStore(Dir.path() + "/store"), Runner))
        .Launches.at(0)
        .Reason;
  };
  EXPECT_EQ(Reason(), "the launch did not occur again in the second run");
  Facts = "graph-stays\t-\tconditional\n";
  EXPECT_EQ(Reason(), "the launch did not occur again in the second run") << "no graph has it";
  Facts += "graph\t_Z5scalePf\t10\t600000\n";
  EXPECT_EQ(Reason(), "the kernel is launched from graphs with conditional nodes");
}

TEST_F(CaptureRunTest, kernelPattern_selectsMatchingKernels) {
  Request.KernelPattern = "^sca.*float";
  EXPECT_EQ(valueOf(capture(Request, UnitStore(Dir.path() + "/store"), Runner)).Launches.size(),
            1u);
  Request.KernelPattern = "other";
  EXPECT_EQ(valueOf(capture(Request, UnitStore(Dir.path() + "/store"), Runner)).Note,
            "no kernel with 1 % of the GPU time or more matches");
  Request.KernelPattern = "(";
  Runner.Runs.clear();
  EXPECT_NE(
      messageOf(capture(Request, UnitStore(Dir.path() + "/store"), Runner)).find("--kernel=(: "),
      std::string::npos);
  EXPECT_TRUE(Runner.Runs.empty());
}
