#include "Ptx/BlockCounters.h"

#include "PtxTesting.h"

using namespace carve;

namespace {

// The block after the last instruction is empty. Labels at the end of the body belong to it.
const std::string Kernel = ".visible .entry k(.param .u64 p) {\n"
                           "  .reg .pred %p<3>;\n"
                           "  setp.eq.s32 %p1, %r1, 0;\n"
                           "  @%p1 bra $END;\n" // block 0
                           "$LOOP:\n  .pragma \"nounroll\";\n"
                           "  add.s32 %r1, %r1, -1;\n"
                           "  setp.ne.s32 %p2, %r1, 0;\n"
                           "  @!%p2 bra $END;\n"                    // block 1
                           "  bra.uni $LOOP;\n"                     // block 2
                           "$END:\n  call.uni f, ();\n  ret;\n}\n"; // block 3
const std::string Function = ".func f() {\n"
                             "$L1:\n  add.s32 %r1, %r1, 1;\n"
                             "  @%p1 bra $L1;\n" // block 0
                             "  ret;\n}\n";      // block 1

CountingPtx counting(const PtxModule &M, std::vector<std::string> Entries = {"k"}) {
  auto Made = withBlockCounters(M, Entries, "Counts", 4);
  if (Made)
    return std::move(*Made);
  ADD_FAILURE() << llvm::toString(Made.takeError());
  return {};
}

/// Returns the text with each increment shortened to its counter's number.
std::string shortened(std::string Text) {
  const std::string Begin = "{ .reg .pred %carve_p;", Address = "[%carve_a+";
  for (size_t At = Text.find(Begin); At != std::string::npos; At = Text.find(Begin, At)) {
    size_t Number = Text.find(Address, At) + Address.size();
    size_t End = Text.find("}\n\t", At) + 3;
    Text.replace(At, End - At, "<" + std::to_string(std::stoul(Text.substr(Number)) / 8) + ">");
  }
  return Text;
}

} // namespace

TEST(BlockCounters, withBlockCounters_loopAndCallee_countersAtBlockHeadsAndAfterRepeatingBranches) {
  PtxModule M = parsed(ptx(Function + Kernel));
  CountingPtx Made = counting(M);
  EXPECT_EQ(Made.FirstOf, (std::map<std::string, size_t>{{"k", 0}, {"f", 10}}));
  EXPECT_EQ(Made.Counters, 16u);
  EXPECT_EQ(shortened(Made.Text), ptx(".visible .global .align 8 .b8 Counts[512];\n"
                                      ".func f() {\n"
                                      "$L1:\n  <10>add.s32 %r1, %r1, 1;\n"
                                      "  @%p1 bra $L1;<13>\n"
                                      "  <11>ret;\n}\n"
                                      ".visible .entry k(.param .u64 p) {\n"
                                      "  .reg .pred %p<3>;\n"
                                      "  <0>setp.eq.s32 %p1, %r1, 0;\n"
                                      "  @%p1 bra $END;\n"
                                      "$LOOP:\n  .pragma \"nounroll\";\n"
                                      "  <1>add.s32 %r1, %r1, -1;\n"
                                      "  setp.ne.s32 %p2, %r1, 0;\n"
                                      "  @!%p2 bra $END;\n"
                                      "  <2>bra.uni $LOOP;\n"
                                      "$END:\n  <3>call.uni f, ();\n  ret;\n}\n"));
  EXPECT_TRUE(bool(PtxModule::parse(Made.Text)));
}

TEST(BlockCounters, countedFlow_loops_giveFrequenciesAndTrips) {
  PtxModule M = parsed(ptx(Function + Kernel));
  CountingPtx Made = counting(M);
  // Ten threads run, and six of them loop 5 times each. All of them call the function, which
  // repeats 3 times.
  RunsByFunction Runs =
      Made.runs({{0, 10}, {1, 30}, {2, 24}, {3, 10}, {10, 30}, {11, 10}, {13, 10}});
  PtxFunction K = llvm::cantFail(readPtxFunction(M.definitionOf("k")));
  CountedFlow OfK = countedFlow(K, Runs.at("k"));
  EXPECT_EQ(OfK.Calls, 10);
  EXPECT_EQ(OfK.Frequencies, (std::vector<double>{1, 3, 2.4, 1, 0}));
  EXPECT_EQ(OfK.Trips, (std::vector<std::optional<double>>{5}));
  // The loop starts at the function's first block, so calls are the runs of this block that do not
  // come from the end of the loop.
  PtxFunction F = llvm::cantFail(readPtxFunction(M.definitionOf("f")));
  CountedFlow OfF = countedFlow(F, Runs.at("f"));
  EXPECT_EQ(OfF.Calls, 10);
  EXPECT_EQ(OfF.Frequencies, (std::vector<double>{3, 1, 0}));
  EXPECT_EQ(OfF.Trips, (std::vector<std::optional<double>>{3}));
}

TEST(BlockCounters, countedFlow_kernelThatDidNotRun_isAllZero) {
  PtxModule M = parsed(ptx(Function + Kernel));
  PtxFunction K = llvm::cantFail(readPtxFunction(M.definitionOf("k")));
  CountedFlow OfK = countedFlow(K, counting(M).runs({}).at("k"));
  EXPECT_EQ(OfK.Calls, 0);
  EXPECT_EQ(OfK.Frequencies, std::vector<double>(5));
  EXPECT_EQ(OfK.Trips, (std::vector<std::optional<double>>{0}));
}

TEST(BlockCounters, jumpTable_repeatsLoop_tripsAreUnknown) {
  PtxModule M = parsed(ptx(".visible .entry k() {\n"
                           "$L1:\n  add.s32 %r1, %r1, 1;\n"
                           "$T: .branchtargets $L1, $L2;\n"
                           "  brx.idx %r1, $T;\n"
                           "$L2:\n  { // callseq\n  .param .b32 a;\n  st.param.b32 [a], %r1;\n"
                           "  call.uni g, (a);\n  }\n  ret;\n}\n"));
  CountingPtx Made = counting(M);
  std::string Text = shortened(Made.Text);
  EXPECT_NE(Text.find("$T: .branchtargets $L1, $L2;\n  <1>brx.idx"), std::string::npos) << Text;
  EXPECT_NE(Text.find(".param .b32 a;\n  <2>st.param"), std::string::npos) << Text;
  PtxFunction K = llvm::cantFail(readPtxFunction(M.definitionOf("k")));
  CountedFlow OfK = countedFlow(K, Made.runs({{0, 8}, {1, 8}, {2, 2}}).at("k"));
  EXPECT_EQ(OfK.Trips, (std::vector<std::optional<double>>{std::nullopt}));
}

TEST(BlockCounters, withBlockCounters_unknownEntryOrTakenName_fails) {
  PtxModule M = parsed(ptx(Function + Kernel));
  EXPECT_EQ(messageOf(withBlockCounters(M, {"none"}, "Counts", 4)), "PTX: no entry named none");
  EXPECT_EQ(messageOf(withBlockCounters(M, {"k"}, "LOOP", 4)), "PTX: the name LOOP is taken");
}
