#include "PtxTesting.h"

#include "Ptx/LaunchConstants.h"

#include "llvm/ADT/StringExtras.h"

using namespace carve;
using namespace llvm;

namespace {

/// The declarations of a body as cicc writes them, and one scope with another name.
const std::string Registers = ".reg .pred %p<3>; .reg .b16 %rs<9>; .reg .b32 %r<9>; .reg .f32 "
                              "%f<9>; .reg .b64 %rd<9>; .reg .f64 %fd<9>; ";

/// A structure of 24 bytes, an integer of 4 bytes, a float, a byte, a double and 8 bytes.
std::string entry(const std::string &Body) {
  return ".visible .entry k(.param .align 8 .b8 k_param_0[24], .param .u32 k_param_1, .param .f32 "
         "k_param_2, .param .u8 k_param_3, .param .f64 k_param_4, .param .u64 k_param_5) { " +
         Registers + Body + " ret; }";
}

/// Returns \p Instructions with constants for \p Known.
std::string written(const std::string &Instructions, const KnownLaunch &Known) {
  auto Text = withConstants("{ " + Registers + Instructions + " ret; }", "k", Known);
  if (!Text)
    return toString(Text.takeError());
  return StringRef(*Text).split(Registers).second.split(" ret; }").first.str();
}

/// Returns what a value of \p Bytes bytes at offset \p Offset of parameter \p Parameter makes of
/// \p Instructions.
std::string with(const std::string &Instructions, unsigned Parameter, unsigned Bytes, uint64_t Bits,
                 unsigned Offset = 0) {
  return written(Instructions, {.Values = {{Parameter, Bytes, Bits, Offset}}});
}

/// Returns the words that \p Body reads, as `parameter+offset:bytes kind`.
std::string reads(const std::string &Body) {
  LaunchReads Reads = cantFail(launchReads(entry(Body), "k"));
  std::vector<std::string> Words;
  for (const ParameterRead &R : Reads.Words)
    Words.push_back(std::to_string(R.Parameter) + "+" + std::to_string(R.Offset) + ":" +
                    std::to_string(R.Bytes) + " " + "ifw"[R.Kind]);
  return join(Words, ", ") + (Reads.Block ? " block" : "") + (Reads.Grid ? " grid" : "");
}

} // namespace

TEST(LaunchConstants, loadOfAKnownValue_becomesAMove) {
  EXPECT_EQ(with("ld.param.u32 %r1, [k_param_1];", 1, 4, 4096), "mov.b32 %r1, 0x1000;");
  EXPECT_EQ(with("ld.param.u64 %rd1, [k_param_5];", 5, 8, UINT64_MAX),
            "mov.b64 %rd1, 0xFFFFFFFFFFFFFFFF;");
  EXPECT_EQ(with("ld.param::entry.b32 %r1, [k_param_1];", 1, 4, 7), "mov.b32 %r1, 0x7;");
  EXPECT_EQ(with("ld.param.u32 %r1, [k_param_0+8];", 0, 4, 5, 8), "mov.b32 %r1, 0x5;");
}

TEST(LaunchConstants, narrowValue_isExtendedAsTheLoadDoes) {
  EXPECT_EQ(with("ld.param.s8 %rs1, [k_param_3];", 3, 1, 0xff), "mov.b16 %rs1, 0xFFFF;");
  EXPECT_EQ(with("ld.param.u8 %rs1, [k_param_3];", 3, 1, 0xff), "mov.b16 %rs1, 0xFF;");
  EXPECT_EQ(with("ld.param.s8 %r1, [k_param_3];", 3, 1, 0x80), "mov.b32 %r1, 0xFFFFFF80;");
  EXPECT_EQ(with("ld.param.s32 %rd1, [k_param_1];", 1, 4, 0x80000000),
            "mov.b64 %rd1, 0xFFFFFFFF80000000;");
  EXPECT_EQ(with("ld.param.b8 %r1, [k_param_3];", 3, 1, 0x80), "mov.b32 %r1, 0x80;");
  const std::string TooNarrow = "ld.param.u32 %rs1, [k_param_1];";
  EXPECT_EQ(with(TooNarrow, 1, 4, 1), TooNarrow);
}

TEST(LaunchConstants, floats_keepEveryBit) {
  EXPECT_EQ(with("ld.param.f32 %f1, [k_param_2];", 2, 4, 0x80000000), "mov.f32 %f1, 0f80000000;");
  EXPECT_EQ(with("ld.param.f32 %f1, [k_param_2];", 2, 4, 0x7fc00001), "mov.f32 %f1, 0f7FC00001;");
  EXPECT_EQ(with("ld.param.f32 %f1, [k_param_2];", 2, 4, 1), "mov.f32 %f1, 0f00000001;");
  EXPECT_EQ(with("ld.param.f32 %f1, [k_param_2];", 2, 4, 0), "mov.f32 %f1, 0f00000000;");
  EXPECT_EQ(with("ld.param.f64 %fd1, [k_param_4];", 4, 8, 0x3ff8000000000000),
            "mov.f64 %fd1, 0d3FF8000000000000;");
  // The newer front end keeps them in registers of bits.
  EXPECT_EQ(with("ld.param.f32 %r1, [k_param_2];", 2, 4, 0x3fc00000), "mov.b32 %r1, 0x3FC00000;");
  const std::string Wider = "ld.param.f32 %rd1, [k_param_2];";
  EXPECT_EQ(with(Wider, 2, 4, 1), Wider);
}

TEST(LaunchConstants, loadOfBytesThatAreNotAllKnown_isLeft) {
  for (const char *Load : {"ld.param.u32 %r1, [k_param_1];", "ld.param.u64 %rd1, [k_param_0+8];",
                           "ld.param.u32 %r1, [k_param_0+6];", "ld.param.u32 %r1, [k_param_0];"})
    EXPECT_EQ(with(Load, 0, 4, 5, 8), Load);
  EXPECT_EQ(with("ld.param.u16 %rs1, [k_param_0+10];", 0, 4, 0x12345678, 8),
            "mov.b16 %rs1, 0x1234;");
  EXPECT_EQ(written("ld.param.u64 %rd1, [k_param_0];", {.Values = {{0, 4, 1, 0}, {0, 4, 2, 4}}}),
            "mov.b64 %rd1, 0x200000001;");
}

TEST(LaunchConstants, loadThatIsNotUnderstood_isLeft) {
  for (const char *Load :
       {"ld.param.u32 %r1, [%rd1+8];", "ld.param.u32 %r1, [%rd1];",
        "ld.global.u32 %r1, [k_param_1];", "@%p1 ld.param.u32 %r1, [k_param_1];",
        "@!%p1 ld.param.u32 %r1, [k_param_1];", "ld.param.u32 %x1, [k_param_1];",
        "ld.param::func.u32 %r1, [k_param_1];", "ld.param.volatile.u32 %r1, [k_param_1];",
        "ld.param.u32 %r1, [k_param_1-4];", "ld.param.u32 %r1, [other_param_1];",
        "ld.param.u32 %p1, [k_param_1];", "mov.b64 %rd1, k_param_1;", "cvta.param.u64 %rd2, %rd1;",
        "st.param.b32 [param0], %r1;"})
    EXPECT_EQ(with(Load, 1, 4, 5), Load);
}

TEST(LaunchConstants, registerWithTwoTypes_isLeft) {
  const std::string Load = "{ .reg .b64 %r; ld.param.u32 %r1, [k_param_1]; }";
  EXPECT_EQ(with(Load, 1, 4, 5), Load);
}

TEST(LaunchConstants, vectorLoad_keepsWhatIsNotKnown) {
  const std::string Load = "ld.param.v2.u32 {%r1, %r2}, [k_param_0+8];";
  EXPECT_EQ(written(Load, {.Values = {{0, 4, 1, 8}, {0, 4, 2, 12}}}),
            "mov.b32 %r1, 0x1;\n\tmov.b32 %r2, 0x2;");
  EXPECT_EQ(with(Load, 0, 4, 2, 12), "ld.param.v2.u32 {%r1, %r2}, [k_param_0+8];\n\tmov.b32 %r2, "
                                     "0x2;");
  EXPECT_EQ(with(Load, 0, 4, 2, 16), Load);
  const std::string Unused = "ld.param.v2.u32 {_, %r2}, [k_param_0+8];";
  EXPECT_EQ(with(Unused, 0, 4, 2, 12),
            Unused.substr(0, Unused.size() - 1) + ";\n\tmov.b32 %r2, 0x2;");
}

TEST(LaunchConstants, dimensions_becomeNumbers) {
  KnownLaunch Known{{}, {{256, 2, 1}}, {{7, 8, 9}}};
  EXPECT_EQ(written("mov.u32 %r1, %ntid.x;", Known), "mov.u32 %r1, 256;");
  EXPECT_EQ(written("mov.b32 %r1, %nctaid.z;", Known), "mov.b32 %r1, 9;");
  Known.Grid.reset();
  for (const char *Other :
       {"mov.u32 %r1, %nctaid.x;", "mov.u32 %r1, %ctaid.x;", "mov.u32 %r1, %tid.x;",
        "cvt.u64.u32 %rd1, %ntid.x;", "mov.u16 %rs1, %ntid.x;", "@%p1 mov.u32 %r1, %ntid.x;"})
    EXPECT_EQ(written(Other, Known), Other);
}

TEST(LaunchConstants, reads_sayPlaceAndKind) {
  EXPECT_EQ(reads("ld.param.u32 %r1, [k_param_1]; ld.param.v2.u8 {%rs1, %rs2}, [k_param_0+18];"),
            "1+0:4 i, 0+18:1 i, 0+19:1 i");
  EXPECT_EQ(reads("ld.param.f32 %f1, [k_param_0+4]; ld.param.f64 %fd1, [k_param_4];"),
            "0+4:4 f, 4+0:8 f");
  EXPECT_EQ(reads("ld.param.u64 %rd1, [k_param_5]; ld.param.u64 %rd2, [k_param_0];"),
            "5+0:8 w, 0+0:8 w");
  EXPECT_EQ(reads("mov.u32 %r1, %ntid.y; mov.u32 %r1, %nctaid.x;"), " block grid");
  EXPECT_EQ(reads("mov.b64 %rd1, k_param_0; ld.param.u32 %r1, [%rd1+8]; mov.u32 %r1, %tid.x;"), "");
}

TEST(LaunchConstants, bitsOfANumber_areAFloatIfTheyAreDeclaredOrUsedAsOne) {
  EXPECT_EQ(reads("ld.param.b32 %r1, [k_param_1]; ld.param.b32 %r2, [k_param_2];"),
            "1+0:4 i, 2+0:4 f");
  EXPECT_EQ(reads("ld.param.u32 %r2, [k_param_2];"), "2+0:4 f") << "its declaration says so";
  EXPECT_EQ(reads("ld.param.b32 %r1, [k_param_0]; add.s32 %r2, %r1, 1; cvt.rn.f32.s32 %f1, %r1;"),
            "0+0:4 i");
  EXPECT_EQ(reads("ld.param.b32 %r1, [k_param_0]; fma.rn.f32 %r2, %r1, %r1, %r1;"), "0+0:4 f");
  EXPECT_EQ(reads("ld.param.b64 %rd1, [k_param_0]; mul.f64 %rd2, %rd1, %rd1;"), "0+0:8 f");
  EXPECT_EQ(reads("ld.param.b16 %rs1, [k_param_0]; add.bf16 %rs2, %rs1, %rs1;"), "0+0:2 f");
}

TEST(LaunchConstants, whatBecomesConstant_isReadAndAllowed) {
  LaunchReads Reads = cantFail(launchReads(
      entry("ld.param.u32 %r1, [k_param_0+8]; ld.param.u8 %rs1, [k_param_0+8]; ld.param.u32 %r1, "
            "[k_param_0+20]; ld.param.f32 %f1, [k_param_2]; ld.param.u64 %rd1, [k_param_5]; "
            "ld.param.u64 %rd1, [k_param_0]; mov.u32 %r1, %ntid.x;"),
      "k"));
  // Words of 4 bytes, as the trace has them. The last one of the structure was not always the same.
  KnownLaunch Seen{
      {{0, 4, 1, 0}, {0, 4, 2, 4}, {0, 4, 3, 8}, {1, 4, 9}, {2, 4, 0x80000000}, {5, 8, 11}},
      {{64, 1, 1}},
      {{2, 1, 1}}};
  const std::vector<std::string> Types = {"S", "int", "float", "bool", "double", "long"};
  using Values = std::vector<ArgumentValue>;
  KnownLaunch Known = constantsOf(Seen, Reads, {Types, false});
  EXPECT_EQ(Known.Values, (Values{{0, 4, 3, 8}, {5, 8, 11}}));
  EXPECT_EQ(Known.Block, Seen.Block);
  EXPECT_FALSE(Known.Grid) << "it is not read";
  EXPECT_EQ(constantsOf(Seen, Reads, {Types, true}).Values,
            (Values{{0, 4, 3, 8}, {2, 4, 0x80000000}, {5, 8, 11}}));
  EXPECT_EQ(constantsOf(Seen, Reads, {{}, false}).Values, (Values{{0, 4, 3, 8}}))
      << "8 bytes may be an address";
  EXPECT_EQ(Reads.Structures, std::vector<unsigned>{0});
  Seen.Values[1].Bits = 0;
  EXPECT_EQ(constantsOf(Seen, Reads, {Types, false}).Values,
            (Values{{0, 8, 1, 0}, {0, 4, 3, 8}, {5, 8, 11}}))
      << "no address is as small";
  EXPECT_TRUE(Reads.readFloatAt({2, 4, 0}));
  EXPECT_TRUE(Reads.readFloatAt({2, 1, 0, 3}));
  EXPECT_FALSE(Reads.readFloatAt({1, 4, 0}));
  EXPECT_FALSE(Reads.readFloatAt({2, 4, 0, 4}));
}

TEST(LaunchConstants, edit_leavesTheKernelAndRenamesTheClone) {
  PtxModule M =
      parsed(ptx(entry("ld.param.u32 %r1, [k_param_1]; ld.param.u32 %r2, [k_param_0+4];")));
  EXPECT_EQ(M.find("k")->ParameterBytes, (std::vector<unsigned>{24, 4, 4, 1, 8, 8}));
  EntryEdit Edit;
  Edit.Known.Values = {{1, 4, 5}};
  std::string Text = cantFail(M.withClones(CloneRequest{"k", "k__c", Edit}));
  StringRef Clone = StringRef(Text).substr(Text.find(".entry k__c("));
  EXPECT_EQ(StringRef(Text).count("ld.param.u32 %r1, [k_param_1];"), 1u);
  EXPECT_TRUE(Clone.contains("mov.b32 %r1, 0x5; ld.param.u32 %r2, [k__c_param_0+4];"))
      << Clone.str();
  EXPECT_EQ(messageOf(M.launchReads("l")), "PTX: no entry named l");
}

TEST(LaunchConstants, noBody_fails) {
  EXPECT_NE(messageOf(withConstants("", "k", {})), "");
  EXPECT_NE(messageOf(withConstants("{", "k", {})), "");
  EXPECT_NE(messageOf(launchReads(".entry k()", "k")), "");
}
