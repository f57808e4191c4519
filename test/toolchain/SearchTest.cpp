// carve search from a space to the winner's program, with the real nvcc. Recorded times take the
// place of the GPU.
#include "BuiltTools.h"

#include "Spaces/SearchJson.h"
#include "Spaces/SearchPipeline.h"

#include "llvm/ADT/STLExtras.h"

#include <csignal>
#include <unistd.h>

using namespace carve;

namespace {

class Search : public BuiltToolsTest {
protected:
  void SetUp() override {
    BuiltToolsTest::SetUp();
    if (IsSkipped())
      return;
    write("include/step.h", "#define STEP 3\n");
    write("space.cu", R"(#include "step.h"
#ifndef BLOCK
#define BLOCK 64
#endif
#if UNROLL == 8
#error no such unrolling
#endif
constexpr int Unroll = UNROLL;
__global__ void work(float *Y, const float *X) {
  __shared__ float Buffer[BLOCK * WORDS];
  float Sum = 0;
#pragma unroll Unroll
  for (int I = 0; I < 64; ++I)
    Sum += X[I * STEP + threadIdx.x];
  Buffer[threadIdx.x] = Sum;
  __syncthreads();
  Y[threadIdx.x] = Buffer[BLOCK - 1 - threadIdx.x];
}
int main() { work<<<1, BLOCK>>>(nullptr, nullptr); return UNROLL; }
)");
  }

  Words searching(const Words &More) {
    Words Arguments = {"search",
                       "--space=UNROLL=1,2,8;BLOCK=64,2048;WORDS=1,40",
                       "--where=WORDS == 1 || BLOCK == 64",
                       "--block=BLOCK",
                       "--grid=4096/BLOCK",
                       "-j",
                       "2"};
    Arguments.insert(Arguments.end(), More.begin(), More.end());
    Arguments.insert(Arguments.end(), {"--", CARVE_NVCC_PROGRAM, "-O3", "-arch=sm_90", "-Iinclude",
                                       "-DUNROLL=4", "space.cu", "-o", "space"});
    return Arguments;
  }
  /// Returns the record that \p More print as JSON.
  SearchRecord searched(const Words &More) {
    Words Arguments = More;
    Arguments.push_back("--format=json");
    CommandResult R = carve(searching(Arguments), {"CARVE_RUN=none"});
    auto Record = parseSearchJson(R.Stdout, "report");
    if (Record)
      return std::move(*Record);
    ADD_FAILURE() << llvm::toString(Record.takeError()) << "\n" << R.Stdout << R.Stderr;
    return {};
  }
  const SearchedConfiguration &at(const SearchRecord &R, llvm::StringRef Name) {
    auto Found =
        llvm::find_if(R.Configurations, [&](const auto &C) { return C.Macros.name() == Name; });
    EXPECT_NE(Found, R.Configurations.end()) << Name.str();
    return Found == R.Configurations.end() ? R.Configurations.front() : *Found;
  }
  /// Returns a search through \p Space for a program that needs no GPU and prints its cost.
  SearchRequest costs(llvm::StringRef Space) {
    write("cost.cu", R"(#include <cstdio>
__global__ void work(float *Y) { Y[threadIdx.x] = A; }
int main(int Count, char **Words) {
  const int Costs[] = {0, 100, 90, 40, 30, 60};
  std::printf("cost %d\n", Costs[A]);
  std::printf("result %d of %s\n", A == 3 ? 8 : 7, Count > 1 ? Words[1] : "nothing");
  return A == 4;
}
)");
    SearchRequest R;
    R.Command = {Tools.Nvcc, "-arch=sm_90", "cost.cu", "-o", "cost"};
    R.Nvcc.WorkDir = R.Workload.Dir = Work.path();
    R.Space = llvm::cantFail(parseProgramSpace(Space));
    R.Metric = "cost (\\d+)";
    R.RunWords = {"words"};
    R.Exhaustive = true;
    R.Gpus.ProcDir = R.Gpus.DevDir = path("none");
    R.Gpus.LockDir = Work.path();
    R.DevicesDir = CARVE_SOURCE_DIR "/share/carve-nvcc/devices";
    R.Probe.Library = path("no-probe.so");
    return R;
  }
  static size_t count(llvm::StringRef Text, llvm::StringRef Part) { return Text.count(Part); }
  void writeSamples() {
    write("times", "carve-samples\t1\n"
                   "sample\tprogram\tUNROLL=1,BLOCK=64,WORDS=1\t1000\n"
                   "sample\tprogram\tUNROLL=1,BLOCK=64,WORDS=40\t1500\n"
                   "sample\tprogram\tUNROLL=2,BLOCK=64,WORDS=1\t500\n"
                   "sample\tprogram\tUNROLL=2,BLOCK=64,WORDS=40\t900\n"
                   "program\t0\t0.25\n");
  }
};

} // namespace

TEST_F(Search, search_withoutAGpu_endsWithTheSelection) {
  CommandResult R = carve(searching({}), {"CUDA_VISIBLE_DEVICES="});
  EXPECT_EQ(R.ExitStatus, 1);
  for (const char *Part : {"9 enumerated of 12 combinations", "error: #error no such unrolling",
                           "--block 'BLOCK' is 2048, expected 1 to 1024", "selected"})
    EXPECT_NE(R.Stdout.find(Part), std::string::npos) << Part << " is not in:\n" << R.Stdout;
  EXPECT_EQ(count(R.Stderr, "no GPU is present"), 1u) << R.Stderr;
  EXPECT_NE(R.Stderr.find("would be built, run and timed"), std::string::npos) << R.Stderr;
  EXPECT_FALSE(exists("space"));
  expectNoTemporaries();
}

TEST_F(Search, winner_byTimes_isWhatTheCommandMakes) {
  writeSamples();
  SearchRecord R = searched({"--samples=times", "--exhaustive"});
  ASSERT_TRUE(R.Winner);
  EXPECT_EQ(R.Configurations[*R.Winner].Macros.name(), "UNROLL=2,BLOCK=64,WORDS=1");
  EXPECT_NEAR(R.WinnerRatio.Median, 0.5, 1e-9);
  // The search replaces the command's own -DUNROLL=4.
  EXPECT_EQ(run({path("space")}).ExitStatus, 2);
  expectNoTemporaries();

  // The metrics are those of the code.
  const SearchedConfiguration &Rolled = at(R, "UNROLL=1,BLOCK=64,WORDS=1");
  const SearchedConfiguration &Unrolled = at(R, "UNROLL=2,BLOCK=64,WORDS=1");
  ASSERT_EQ(Rolled.Kernels.size(), 1u);
  const StaticMetrics &M = Rolled.Kernels.front().Metrics;
  EXPECT_EQ(M.WarpsPerBlock, 2u);
  EXPECT_EQ(M.StaticSmemBytes, 256u);
  EXPECT_GT(M.RegsPerThread, 0u);
  // The unrolled loop has fewer instructions of its own.
  EXPECT_GT(Unrolled.Efficiency, Rolled.Efficiency);
  EXPECT_LT(at(R, "UNROLL=1,BLOCK=64,WORDS=40").Kernels.front().Metrics.BlocksPerSm, M.BlocksPerSm);
}

TEST_F(Search, search_repeated_costsNothing) {
  writeSamples();
  CommandResult First = carve(searching({"--samples=times"}), {"CARVE_RUN=none"});
  EXPECT_TRUE(First.succeeded()) << First.Stderr;
  EXPECT_NE(First.Stdout.find("9 compiled in"), std::string::npos) << First.Stdout;
  std::string Program = read("space");
  CommandResult Again = carve(searching({"--samples=times"}), {"CARVE_RUN=none"});
  EXPECT_NE(Again.Stdout.find("nothing was compiled or timed"), std::string::npos) << Again.Stdout;
  EXPECT_NE(Again.Stdout.find("space is already built with it"), std::string::npos) << Again.Stdout;
  EXPECT_TRUE(read("space") == Program);
  // If the program is missing, it is built again for the same winner.
  llvm::sys::fs::remove(path("space"));
  Again = carve(searching({"--samples=times"}), {"CARVE_RUN=none"});
  EXPECT_NE(Again.Stdout.find("space is built with it"), std::string::npos) << Again.Stdout;
  EXPECT_EQ(run({path("space")}).ExitStatus, 2);
  // After a change of a header no earlier result counts.
  write("include/step.h", "#define STEP 5\n");
  Again = carve(searching({"--samples=times"}), {"CARVE_RUN=none"});
  EXPECT_NE(Again.Stdout.find("9 compiled in"), std::string::npos) << Again.Stdout;
  EXPECT_NE(Again.Stdout.find("the sources have changed since"), std::string::npos) << Again.Stdout;
}

// These programs need no GPU and print their own cost. They run as GPU programs do.
TEST_F(Search, programs_areRunAndCompared) {
  SearchRequest R = costs("A=0..5");
  R.Where = llvm::cantFail(MacroExpression::parse("A != 0", "--where", {std::string("A")}));
  UnitStore Store(path("store"));
  llvm::Expected<SearchRecord> Found = searchSpace(R, Store, Tools, Runner);
  ASSERT_TRUE(bool(Found)) << llvm::toString(Found.takeError());
  EXPECT_EQ(Found->Reference, 0u);
  ASSERT_TRUE(Found->Winner);
  EXPECT_EQ(Found->Configurations[*Found->Winner].Macros.name(), "A=5");
  EXPECT_DOUBLE_EQ(Found->WinnerRatio.Median, 0.6);
  EXPECT_EQ(at(*Found, "A=3").Times.Fault,
            "line 2 of the output is 'result 8 of words' instead of 'result 7 of words'");
  EXPECT_EQ(at(*Found, "A=4").Times.Fault, "ended with exit status 1");
  EXPECT_EQ(run({path("cost")}).Stdout, "cost 60\nresult 7 of nothing\n");
  ASSERT_TRUE(summaryOf(*Found));
  EXPECT_EQ(summaryOf(*Found)->Valid, 5u);

  llvm::Expected<SearchRecord> Again = searchSpace(R, Store, Tools, Runner);
  ASSERT_TRUE(bool(Again)) << llvm::toString(Again.takeError());
  EXPECT_EQ(Again->Runs + Again->Compiled + Again->Timed, 0u);
  EXPECT_EQ(Again->Winner, Found->Winner);
  EXPECT_TRUE(Again->OutputKept);
  EXPECT_TRUE(at(*Again, "A=5").FromStore);
  EXPECT_EQ(at(*Again, "A=3").Times.Fault, at(*Found, "A=3").Times.Fault);
  // A part of the space is known, too.
  R.Where.reset();
  R.Space = llvm::cantFail(parseProgramSpace("A=1,2,5"));
  llvm::Expected<SearchRecord> Fewer = searchSpace(R, Store, Tools, Runner);
  ASSERT_TRUE(bool(Fewer)) << llvm::toString(Fewer.takeError());
  EXPECT_EQ(Fewer->Runs, 0u);
}

namespace {
/// Ends the search when the program has run \p Last times and is started again.
class InterruptingRunner final : public CommandRunner {
public:
  explicit InterruptingRunner(unsigned Last) : Left(Last) {}
  llvm::Expected<CommandResult> run(const Command &C) override {
    bool IsProgram = llvm::StringRef(C.Argv.front()).ends_with("/run/cost");
    if (!IsProgram || Left-- > 0)
      return Real.run(C);
    CommandResult Ended;
    Ended.Interrupted = SIGINT;
    return Ended;
  }

private:
  ProcessRunner Real;
  unsigned Left;
};
} // namespace

TEST_F(Search, search_interrupted_continuesLater) {
  SearchRequest R = costs("A=1,2,5");
  UnitStore Store(path("store"));
  // The runs are one to look at the program, a round of three, and one more.
  InterruptingRunner Interrupting(5);
  auto Stopped = searchSpace(R, Store, Tools, Interrupting);
  ASSERT_FALSE(bool(Stopped));
  EXPECT_EQ(llvm::toString(Stopped.takeError()), "interrupted: 2");
  llvm::Expected<SearchRecord> Found = searchSpace(R, Store, Tools, Runner);
  ASSERT_TRUE(bool(Found)) << llvm::toString(Found.takeError());
  EXPECT_EQ(Found->Compiled, 0u);
  EXPECT_EQ(Found->Timed, 0u) << "only confirmed";
  ASSERT_TRUE(Found->Winner);
  EXPECT_EQ(Found->Configurations[*Found->Winner].Macros.name(), "A=5");
}

TEST_F(Search, misspeltMacro_isReported) {
  CommandResult R = carve({"search", "--space=UNROL=1,2", "--arch=sm_90", "--", "nvcc",
                           "-DUNROLL=1", "-DWORDS=1", "-Iinclude", "space.cu", "-o", "space"},
                          {"CUDA_VISIBLE_DEVICES="});
  // A part of a name is not a use of the macro.
  EXPECT_NE(R.Stdout.find("has the macro UNROL, which none"), std::string::npos) << R.Stdout;
}

TEST_F(Search, interrupt_leavesNothing) {
  constexpr double Enough = 10;
  std::string Search =
      "'" CARVE_PROGRAM "' search --space 'UNROLL=11..99' --arch=sm_90 -j 2 -- "
      "nvcc -DWORDS=1 -Iinclude space.cu -o space & sleep 1; kill -INT $!; wait $!; "
      "echo ended by $?";
  // A background process of a shell without job control ignores SIGINT.
  CommandResult R = run({"/bin/bash", "-c", "set -m; " + Search});
  EXPECT_NE(R.Stdout.find("ended by 130"), std::string::npos) << R.Stdout << R.Stderr;
  auto Left = [&] {
    std::error_code Failed;
    return llvm::sys::fs::directory_iterator(path("tmp"), Failed) !=
           llvm::sys::fs::directory_iterator();
  };
  for (double Waited = 0; Left() && Waited < Enough; Waited += 0.1)
    ::usleep(100000);
  expectNoTemporaries();
  EXPECT_FALSE(exists("space"));
}

TEST_F(Search, mistakes_areNamed) {
  const std::pair<Words, const char *> Mistakes[] = {
      {{"search", "--", "nvcc", "a.cu"}, "no --space"},
      {{"search", "--space=A=1"}, "no command"},
      {{"search", "--space=A=1", "--", "nvcc", "-c"}, "a command that cannot be searched"},
      {{"search", "--space=A=1", "--", "-O3"}, "expected the compiler's whole command"},
      {{"search", "--space=A=1", "--where=A <", "--", "nvcc", "space.cu"}, "column 4"},
      {{"search", "--space=A=1", "--where=A > 1", "--", "nvcc", "space.cu"},
       "leaves none of the 1 configurations"},
      {{"search", "--space=A=1", "--metric=time", "--", "nvcc", "space.cu"},
       "expected a group in parentheses"},
      {{"search", "--space=A=1", "--block=1,1,1,1", "--", "nvcc", "space.cu"},
       "has 4 values, expected at most 3"},
      {{"search", "--space=A=1", "--", "no-such-compiler", "space.cu"},
       "'no-such-compiler' is not in PATH"},
      {{"search", "--space=UNROLL=8", "--arch=sm_90", "--", "nvcc", "space.cu"},
       "no configuration is valid, the first: UNROLL=8: does not compile"},
  };
  for (const auto &[Arguments, Message] : Mistakes) {
    CommandResult R = carve(Arguments);
    EXPECT_EQ(R.ExitStatus, 1);
    EXPECT_NE(R.Stderr.find(Message), std::string::npos) << R.Stderr;
  }
}
