#include "unit/Ptx/PtxTesting.h"

#include "Explain/Modified/ArithmeticOnly.h"
#include "Explain/Modified/MemoryOnly.h"
#include "Explain/Modified/ModifiedCode.h"
#include "Explain/Modified/ModifiedKernel.h"
#include "Explain/Modified/RegisterFlow.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace carve;
using namespace llvm;

namespace {

const PtxModule &kernels() {
  static const PtxModule M = parsed(recorded("modified.cuda-13.0.88.ptx"));
  return M;
}

RegisterFlow flowOf(StringRef Definition) {
  auto Flow = RegisterFlow::read(Definition);
  if (!Flow)
    ADD_FAILURE() << toString(Flow.takeError());
  return cantFail(RegisterFlow::read(Flow ? Definition : ".entry k() { ret; }"));
}

bool isTraffic(const PtxStep &S) {
  return (S.Space == PtxSpace::Global || S.Space == PtxSpace::Texture) &&
         (S.Action == PtxAction::Load || S.Action == PtxAction::Store ||
          S.Action == PtxAction::Copy);
}

/// Returns the text of \p I, with \p Name replaced by \p Original in names of parameters.
std::string textOf(const PtxInstruction &I, StringRef Text, StringRef Name, StringRef Original) {
  StringRef Own = Text.slice(I.Begin, I.End);
  auto [Before, After] = Own.split(Name);
  return Before == Own ? Own.str() : (Before + Original + After).str();
}

/// The accesses of a kernel's text to memory, and what they depend on.
struct Accesses {
  /// For each access: its text up to the end of the address, and all instructions on which the
  /// operands up to there depend.
  std::vector<std::pair<std::string, std::set<std::string>>> All;
  /// The same for branches, barriers and ends.
  std::vector<std::pair<std::string, std::set<std::string>>> Flow;

  Accesses(StringRef Text, StringRef Name, StringRef Original) {
    RegisterFlow F = flowOf(Text);
    for (auto [At, S] : enumerate(F.steps())) {
      const PtxInstruction &I = F.code()[At];
      std::string Own = textOf(I, Text, Name, Original);
      if (I.Opcode == "red")
        continue; // The modified version adds this reduction before its exits.
      if (isTraffic(S))
        All.emplace_back(StringRef(Own).split(']').first.str(),
                         closure(F, S.Where, Text, Name, Original));
      if (S.Action == PtxAction::Control && !StringRef(Own).contains("$carve_"))
        Flow.emplace_back(Own, closure(F, S.Reads, Text, Name, Original));
    }
  }

  static std::set<std::string> closure(const RegisterFlow &F, std::vector<unsigned> Pending,
                                       StringRef Text, StringRef Name, StringRef Original) {
    std::set<unsigned> Seen(Pending.begin(), Pending.end());
    std::set<std::string> Texts;
    while (!Pending.empty()) {
      unsigned R = Pending.back();
      Pending.pop_back();
      for (size_t W : F.registers()[R].Writers) {
        Texts.insert(textOf(F.code()[W], Text, Name, Original));
        for (unsigned Read : F.steps()[W].Reads)
          if (Seen.insert(Read).second)
            Pending.push_back(Read);
      }
    }
    return Texts;
  }
};

std::string memory(StringRef Kernel) {
  auto Text = memoryOnly(kernels(), Kernel, (Kernel + "__m").str());
  if (Text)
    return *Text;
  ADD_FAILURE() << Kernel.str() << ": " << toString(Text.takeError());
  return "";
}

std::string arithmetic(StringRef Kernel) {
  auto Text = arithmeticOnly(kernels(), Kernel, (Kernel + "__a").str());
  if (Text)
    return *Text;
  ADD_FAILURE() << Kernel.str() << ": " << toString(Text.takeError());
  return "";
}

/// Returns how often \p Text has \p Opcode with \p Modifier, or with any modifier if that is empty.
unsigned opcodes(StringRef Text, StringRef Opcode, StringRef Modifier = "") {
  RegisterFlow Flow = flowOf(Text);
  return count_if(Flow.code(), [&](const PtxInstruction &I) {
    return I.Opcode == Opcode && (Modifier.empty() || I.has(Modifier));
  });
}

class MemoryOnly : public testing::TestWithParam<const char *> {};
class ArithmeticOnly : public testing::TestWithParam<const char *> {};

std::string nameOf(const testing::TestParamInfo<const char *> &Info) {
  std::string Name = Info.param;
  std::erase(Name, '_');
  return Name;
}

} // namespace

/// Every access is there, and so is everything that its address depends on.
TEST_P(MemoryOnly, version_accessesTheSameMemoryInTheSameFlow) {
  StringRef Kernel = GetParam();
  std::string Clone = (Kernel + "__m").str(), Text = memory(Kernel);
  Accesses Before(kernels().definitionOf(Kernel), Kernel, Kernel), After(Text, Clone, Kernel);
  ASSERT_FALSE(Before.All.empty());
  EXPECT_EQ(Before.All, After.All) << Text;
  // The version jumps around loops in which nothing happens, so some of the flow is missing.
  for (const auto &Kept : After.Flow)
    EXPECT_TRUE(is_contained(Before.Flow, Kept)) << Kept.first;
}

INSTANTIATE_TEST_SUITE_P(All, MemoryOnly,
                         testing::Values("copy", "fma_chain", "stencil", "matmul", "reduce",
                                         "gather", "spmv", "calls", "nbody", "halves", "staged",
                                         "ahead", "permuted", "table", "textured", "filled"),
                         nameOf);

TEST_P(ArithmeticOnly, version_hasTheSameFlowWithoutMemory) {
  StringRef Kernel = GetParam();
  std::string Clone = (Kernel + "__a").str(), Text = arithmetic(Kernel);
  Accesses Before(kernels().definitionOf(Kernel), Kernel, Kernel), After(Text, Clone, Kernel);
  EXPECT_TRUE(After.All.empty()) << Text;
  EXPECT_EQ(Before.Flow, After.Flow);
  StringRef Own = kernels().definitionOf(Kernel);
  for (const char *Opcode : {"fma", "add", "mul", "sqrt", "div", "ex2", "setp", "bar"})
    EXPECT_GE(opcodes(Text, Opcode), opcodes(Own, Opcode)) << Opcode;
  EXPECT_EQ(opcodes(Text, "ld", ".shared"), opcodes(Own, "ld", ".shared"));
  EXPECT_EQ(opcodes(Text, "st", ".shared"), opcodes(Own, "st", ".shared"));
}

INSTANTIATE_TEST_SUITE_P(All, ArithmeticOnly,
                         testing::Values("copy", "fma_chain", "stencil", "matmul", "reduce",
                                         "gather", "follow", "calls", "nbody", "halves", "staged",
                                         "ahead", "table", "filled"),
                         nameOf);

TEST(ModifiedKernel, memoryOnly_hasNoArithmeticOfData) {
  for (const char *Kernel : {"fma_chain", "stencil", "matmul", "reduce", "nbody", "halves"}) {
    std::string Text = memory(Kernel);
    for (const char *Opcode : {"fma", "sqrt", "rsqrt", "ex2", "div"})
      EXPECT_EQ(opcodes(Text, Opcode), 0u) << Kernel << " " << Opcode;
  }
  EXPECT_EQ(opcodes(memory("calls"), "call"), 0u);
  EXPECT_EQ(opcodes(memory("matmul"), "bar"), opcodes(kernels().definitionOf("matmul"), "bar"));
}

TEST(ModifiedKernel, storeOfLoadedValue_staysAsItIs) {
  StringRef Own = kernels().definitionOf("copy");
  std::string Text = memory("copy");
  EXPECT_NE(Text.find("st.global.f32 \t[%rd7], %f1;"), std::string::npos) << Text;
  EXPECT_EQ(opcodes(Text, "red"), 0u) << "nothing to be kept alive";
  EXPECT_EQ(opcodes(Text, "st"), opcodes(Own, "st"));
}

/// Accesses to shared memory belong to the arithmetic. The allocation stays, because a kernel with
/// less of it would have more blocks side by side.
TEST(ModifiedKernel, memoryOnly_leavesSharedMemoryAllocated) {
  std::string Text = memory("matmul");
  EXPECT_EQ(opcodes(Text, "ld", ".shared"), 0u);
  EXPECT_NE(Text.find("@%carve_q st.shared.u8 [_ZZ6matmulE2As]"), std::string::npos) << Text;
  EXPECT_NE(Text.find("@%carve_q st.shared.u8 [_ZZ6matmulE2Bs]"), std::string::npos);
  // If shared memory holds addresses, its accesses have to stay.
  std::string Permuted = memory("permuted");
  StringRef Own = kernels().definitionOf("permuted");
  EXPECT_EQ(opcodes(Permuted, "ld", ".shared"), opcodes(Own, "ld", ".shared"));
  EXPECT_EQ(opcodes(Permuted, "and"), opcodes(Own, "and"));
}

TEST(ModifiedKernel, loopOfArithmeticOnly_isJumpedAround) {
  std::string Text = memory("fma_chain");
  EXPECT_NE(Text.find("bra $carve_behind_0;"), std::string::npos) << Text;
  EXPECT_NE(Text.find("$carve_behind_0:"), std::string::npos);
  EXPECT_EQ(Text.find("add.s32 \t%r14, %r14, -4;"), std::string::npos) << "nor do counters run";
  EXPECT_EQ(memory("reduce").find("$carve_behind"), std::string::npos)
      << "its second loop has barriers";
}

TEST(ModifiedKernel, unsafeKernel_isRefusedWithReason) {
  const std::map<std::string, std::pair<std::string, std::string>> Why = {
      {"spmv", {"", "its branches depend on what it loads"}},
      {"relax",
       {"its addresses and branches need 100 % of its arithmetic",
        "its branches depend on what it loads"}},
      {"follow", {"addresses or branches depend on memory that it may have written", ""}},
      {"histogram",
       {"it uses atomic operations on global memory",
        "it uses atomic operations on global memory"}},
      {"calls_memory",
       {"it calls functions that do more than compute",
        "it calls functions that do more than compute"}},
      {"textured", {"", "it reads textures"}},
      {"waits", {"it waits for other blocks in a loop", "it waits for other blocks in a loop"}}};
  for (const auto &[Kernel, Reasons] : Why) {
    auto Expected = [](StringRef Kind, const std::string &Reason) {
      return Reason.empty() ? "" : (Kind + ": " + Reason).str();
    };
    EXPECT_EQ(messageOf(memoryOnly(kernels(), Kernel, "m")), Expected("memory-only", Reasons.first))
        << Kernel;
    EXPECT_EQ(messageOf(arithmeticOnly(kernels(), Kernel, "a")),
              Expected("arithmetic-only", Reasons.second))
        << Kernel;
  }
  EXPECT_EQ(messageOf(memoryOnly(kernels(), "none", "m")), "PTX: no entry named none");
}

namespace {
/// Returns why neither version can be made of a kernel with \p Body and three parameters; `-` for a
/// version that can be made.
std::pair<std::string, std::string> reasons(const std::string &Body) {
  PtxModule M = parsed(ptx(".visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, "
                           ".param .u32 k_param_2)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<9>;\n"
                           ".reg .f32 %f<9>;\n.reg .b64 %rd<9>;\n"
                           "ld.param.u64 %rd1, [k_param_0];\nld.param.u64 %rd2, [k_param_1];\n"
                           "ld.param.u32 %r1, [k_param_2];\n" +
                           Body + "ret;\n}\n"));
  auto Message = [](Expected<std::string> Text) {
    std::string Why = messageOf(std::move(Text));
    return Why.empty() ? "-" : StringRef(Why).split(": ").second.str();
  };
  return {Message(memoryOnly(M, "k", "m")), Message(arithmeticOnly(M, "k", "a"))};
}
} // namespace

TEST(ModifiedKernel, unknownInstruction_isRefusedWithItsName) {
  const std::string Load = "cvta.to.global.u64 %rd3, %rd1;\nld.global.b32 %r2, [%rd3];\n";
  using Pair = std::pair<std::string, std::string>;
  auto Both = [](const std::string &Why) { return Pair(Why, Why); };
  EXPECT_EQ(reasons("mov.u32 %r2, %tid.x;\n"),
            Both("it neither loads from global memory nor stores there"));
  EXPECT_EQ(reasons(Load + "mbarrier.init.shared.b64 [%r2], 1;\n"),
            Both("it uses `mbarrier.init.shared.b64`"));
  EXPECT_EQ(reasons(Load + "cp.async.bulk.commit_group;\n"),
            Both("it uses `cp.async.bulk.commit_group`"));
  EXPECT_EQ(reasons(Load + "nanosleep.u32 5;\n"), Both("it uses `nanosleep.u32`"));
  EXPECT_EQ(reasons(Load + "sust.b.1d.b32.trap [%rd2, {%r2}], {%r2};\n"), Both("it uses `sust.b`"));
  EXPECT_EQ(reasons(Load + "ld.shared::cluster.u32 %r3, [%r2];\n"),
            Both("it uses `ld.shared::cluster.u32`"));
  EXPECT_EQ(reasons(Load + "red.global.add.u32 [%rd3], %r2;\n"),
            Both("it uses atomic operations on global memory"));
  EXPECT_EQ(reasons(".shared .align 4 .b8 S[64];\nmov.u64 %rd4, S;\ncvta.shared.u64 %rd5, %rd4;\n"
                    "ld.u32 %r2, [%rd5];\nst.u32 [%rd1], %r2;\n"),
            Both("it reaches shared or local memory by generic addresses"));
  EXPECT_EQ(reasons(Load + "setp.eq.s32 %p1, %r2, 0;\n@%p1 bra $L;\nbar.sync 0;\n$L:\n").second,
            "its branches depend on what it loads");
  EXPECT_EQ(reasons(Load + "setp.eq.s32 %p1, %r2, 0;\n@%p1 exit;\n").second,
            "its barriers or its end depend on what it loads");
  EXPECT_EQ(reasons(Load + "bar.sync %r2;\n").second,
            "its barriers or its end depend on what it loads");
}

/// If index and result are in the same array, the version would follow what it has written.
TEST(ModifiedKernel, addressFromWrittenMemory_isRefused) {
  auto Indexed = [](const std::string &Load, const std::string &Store) {
    return "cvta.to.global.u64 %rd3, %rd1;\ncvta.to.global.u64 %rd4, %rd2;\n" + Load +
           " %r2, [%rd3];\nmul.wide.s32 %rd5, %r2, 4;\nadd.s64 %rd6, %rd4, %rd5;\n"
           "ld.global.f32 %f1, [%rd6];\nmul.f32 %f2, %f1, %f1;\nst.global.f32 [" +
           Store + "], %f2;\n";
  };
  const std::string Unsafe = "addresses or branches depend on memory that it may have written";
  EXPECT_EQ(reasons(Indexed("ld.global.u32", "%rd3+4")).first, Unsafe);
  EXPECT_EQ(reasons(Indexed("ld.global.u32", "%rd4+4")).first, "-");
  EXPECT_EQ(reasons(Indexed("ld.global.nc.u32", "%rd3+4")).first, "-")
      << "what is read so, nobody writes";
  EXPECT_EQ(reasons("ld.u64 %rd3, [%rd1];\nld.u64 %rd4, [%rd3];\nld.f32 %f1, [%rd4];\n"
                    "add.f32 %f2, %f1, %f1;\nst.f32 [%rd4], %f2;\n")
                .first,
            Unsafe)
      << "where a pointer from memory leads, nobody knows";
  EXPECT_EQ(reasons(Indexed("ld.global.u32", "%rd3+4")).second, "-");
}

TEST(ModifiedKernel, replacedLoad_givesAValueOfTheUsedKind) {
  // Newer compilers write `.b32` everywhere.
  PtxModule M = parsed(ptx(
      ".visible .entry k(.param .u64 k_param_0)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
      ".reg .b16 %rs<3>;\nld.param.b64 %rd1, [k_param_0];\nld.global.b32 %r1, [%rd1];\n"
      "ld.global.b32 %r2, [%rd1+4];\nld.global.b64 %rd2, [%rd1+8];\nld.global.b8 %rs1, [%rd1+16];\n"
      "fma.rn.f32 %r3, %r1, %r1, %r1;\nadd.s32 %r4, %r2, 1;\nfma.rn.f64 %rd3, %rd2, %rd2, %rd2;\n"
      "st.global.v2.b32 [%rd1], {%r3, %r4};\nst.global.b64 [%rd1+8], %rd3;\n"
      "st.global.b16 [%rd1+16], %rs1;\nret;\n}\n"));
  auto Text = arithmeticOnly(M, "k", "k__a");
  ASSERT_TRUE(bool(Text)) << toString(Text.takeError());
  for (const char *Made :
       {"or.b32 %carve_u, %carve_u, %carve_one_3f800000;\n\tmov.b32 %r1, %carve_u;",
        "xor.b32 %carve_one_3ff00000, %carve_one_3ff00000, 0x3ff00000;",
        "mov.b64 %carve_d, {%carve_t, %carve_u};\n\tmov.b64 %rd2, %carve_d;",
        "and.b32 %carve_u, %carve_u, 255;\n\tcvt.u16.u32 %carve_h, %carve_u;"})
    EXPECT_NE(Text->find(Made), std::string::npos) << Made << "\n" << *Text;
  auto Memory = memoryOnly(M, "k", "k__m");
  ASSERT_TRUE(bool(Memory));
  EXPECT_NE(Memory->find("st.global.v2.b32 [%rd1], {%carve_acc, %carve_acc};"), std::string::npos);
  EXPECT_NE(Memory->find("mov.b64 %carve_d, {%carve_acc, %carve_acc};\n\tst.global.b64 [%rd1+8], "
                         "%carve_d;"),
            std::string::npos);
  EXPECT_NE(Memory->find("st.global.b16 [%rd1+16], %rs1;"), std::string::npos) << *Memory;
}

TEST(ModifiedKernel, predicatedAccess_keepsItsPredicate) {
  PtxModule M = parsed(ptx(
      ".visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)\n{\n.reg .b32 %r<9>;\n"
      ".reg .b64 %rd<9>;\n.reg .f32 %f<5>;\n.reg .pred %p<3>;\nld.param.u64 %rd1, [k_param_0];\n"
      "ld.param.u32 %r1, [k_param_1];\nsetp.gt.s32 %p1, %r1, 5;\nmov.f32 %f1, 0f00000000;\n"
      "@%p1 ld.global.f32 %f1, [%rd1];\nmul.f32 %f2, %f1, %f1;\n@!%p1 st.global.f32 [%rd1], %f2;\n"
      "ret;\n}\n"));
  auto Memory = memoryOnly(M, "k", "k__m"), Arithmetic = arithmeticOnly(M, "k", "k__a");
  ASSERT_TRUE(Memory && Arithmetic);
  EXPECT_NE(Memory->find("@%p1 ld.global.f32 %f1, [%rd1];"), std::string::npos) << *Memory;
  EXPECT_NE(Memory->find("@!%p1 st.global.f32 [%rd1], %carve_acc;"), std::string::npos);
  EXPECT_NE(Arithmetic->find("@%p1 mov.b32 %f1, %carve_u;"), std::string::npos) << *Arithmetic;
  EXPECT_NE(Arithmetic->find("@!%p1 add.u32 %carve_acc, %carve_acc, %carve_t;"), std::string::npos);
}

TEST(ModifiedKernel, clone_isPlacedAfterItsOriginal) {
  std::string Text = memory("copy");
  PtxModule M = parsed(withModifiedClones(kernels(), {{"copy", Text}}));
  ASSERT_TRUE(M.find("copy__m"));
  EXPECT_EQ(M.entries().size(), kernels().entries().size() + 1);
  EXPECT_EQ(M.definitionOf("copy"), kernels().definitionOf("copy"));
  EXPECT_NE(M.definitionOf("copy__m").find("copy__m_param_2"), StringRef::npos);
  EXPECT_EQ(M.definitionOf("copy__m").find("[copy_param"), StringRef::npos);
}

TEST(ModifiedKernel, loop_isMarkedOnceNotToBeUnrolled) {
  auto Text = withoutUnrolling(kernels().definitionOf("matmul"));
  ASSERT_TRUE(bool(Text));
  EXPECT_EQ(StringRef(*Text).count(".pragma \"nounroll\";"), 1u);
  auto None = withoutUnrolling(kernels().definitionOf("copy"));
  ASSERT_TRUE(bool(None));
  EXPECT_EQ(*None, kernels().definitionOf("copy"));
}

TEST(ModifiedCode, codeMix_countsInstructionsByLoopDepth) {
  auto Mix = codeMix(recorded("kernels.sm_90.cuda-13.0.88.cubin"), "_Z5bulkyPdi");
  ASSERT_TRUE(bool(Mix)) << toString(Mix.takeError());
  unsigned Loads = 0, Floats = 0;
  for (const CodeMix &M : *Mix) {
    Loads += M.Loads;
    Floats += M.Floats;
  }
  EXPECT_GE(Loads, 24u);
  EXPECT_GE(Floats, 32u);
}

TEST(ModifiedCode, codeOfVersion_thatDiffers_isNamed) {
  std::vector<CodeMix> Whole = {{1, 1, 0, 3, 20}, {4, 2, 0, 40, 10}};
  EXPECT_EQ(whyNotMemoryOnly(Whole, {{1, 1, 0, 0, 9}, {4, 2, 0, 0, 5}}), "");
  EXPECT_EQ(whyNotMemoryOnly(Whole, {{1, 1, 0, 0, 9}, {3, 2, 0, 0, 5}}),
            "ptxas made 3 loads, 2 stores and 0 copies in loops of depth 1, expected 4, 2 "
            "and 0");
  EXPECT_EQ(whyNotMemoryOnly(Whole, {{5, 3, 0, 0, 9}}),
            "ptxas made 5 loads, 3 stores and 0 copies outside of loops, expected 1, 1 and "
            "0");
  EXPECT_EQ(whyNotArithmeticOnly(Whole, {{0, 0, 0, 3, 20}, {0, 0, 0, 41, 50}}), "");
  EXPECT_EQ(whyNotArithmeticOnly(Whole, {{0, 0, 0, 3, 20}, {1, 0, 0, 41, 50}}),
            "1 loads and 0 stores remain");
  EXPECT_EQ(whyNotArithmeticOnly(Whole, {{0, 0, 0, 43, 20}}),
            "ptxas made 0 floating-point instructions in loops, expected about 40");
  EXPECT_EQ(whyNotArithmeticOnly(Whole, {{0, 0, 0, 13, 20}, {0, 0, 0, 40, 50}}),
            "ptxas made 13 floating-point instructions outside of loops, expected about 3");
}
