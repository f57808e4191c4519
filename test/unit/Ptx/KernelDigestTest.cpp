#include "Ptx/ProfileName.h"
#include "PtxTesting.h"

using namespace carve;
using namespace llvm;

// nvcc made the PTX files in test/Inputs/ptx/digest from edits of one source file. `pk` is the
// kernel in its anonymous namespace, and its mangled name depends on the file's path and content.
static std::string digestOfPk(StringRef Variant) {
  PtxModule Module = parsed(recorded("digest/" + Variant + ".cuda-13.0.88.ptx"));
  for (const PtxEntry &E : Module.entries())
    if (profileName(E.Name) == "(anonymous namespace)::pk(float*, int)")
      return cantFail(Module.kernelDigest(E.Name));
  ADD_FAILURE() << "no pk in " << Variant.str();
  return "";
}

TEST(KernelDigest, digest_editElsewhereInTheFile_isTheSame) {
  std::string Base = digestOfPk("base");
  EXPECT_EQ(Base.size(), 32u);
  // The source was moved to another directory, and a function and a kernel were put before `pk`.
  // That kernel has its own assert, printf, depot and static shared memory.
  EXPECT_EQ(digestOfPk("moved"), Base);
  EXPECT_EQ(digestOfPk("otherchanged"), Base);
  EXPECT_EQ(digestOfPk("li"), Base) << "-lineinfo";
}

TEST(KernelDigest, digest_editOfWhatTheKernelReaches_changes) {
  std::string Base = digestOfPk("base");
  EXPECT_NE(digestOfPk("body"), Base);
  EXPECT_NE(digestOfPk("callee"), Base);
  EXPECT_NE(digestOfPk("const"), Base) << "the initialiser of a __constant__ it reads";
}

static std::string digestOfK(StringRef Statements) {
  return cantFail(parsed(ptx(Statements)).kernelDigest("k"));
}

TEST(KernelDigest, digest_commentsSpacesAndLineDirectives_areIgnored) {
  EXPECT_EQ(digestOfK(".entry k() { ret; }"),
            digestOfK("// hello\n.entry   k ( )\n{\n  .loc 1 2 3\n /* x */ ret ; }"));
}

TEST(KernelDigest, digest_labelsAndDepots_areNumberedWithinTheKernel) {
  StringRef Text = ".entry k() { .local .align 8 .b8 __local_depot#[8];\n"
                   "mov.u64 %SPL, __local_depot#; $L__BB#_2: @%p1 bra $L__BB#_2;\n"
                   "{ prototype_# : .callprototype ()_ (.param .b64 _); call %rd1, (p), "
                   "prototype_#; } ret; }";
  auto numbered = [&](StringRef Number) {
    std::string Result;
    for (char C : Text)
      Result += C == '#' ? Number.str() : std::string(1, C);
    return Result;
  };
  EXPECT_EQ(digestOfK(numbered("0")), digestOfK(numbered("17")));
  EXPECT_NE(digestOfK(".entry k() { $L1: $L2: bra $L1; bra $L2; }"),
            digestOfK(".entry k() { $L1: $L2: bra $L2; bra $L1; }"))
      << "renaming keeps which label is meant";
}

TEST(KernelDigest, digest_strings_areTakenByContent) {
  StringRef K = ".entry k() { mov.u64 %rd1, $str$1; call vprintf; ret; }";
  std::string Decls = ".extern .func vprintf();\n.global .b8 $str[2] = {1, 2};\n";
  std::string Base = digestOfK(Decls + ".global .b8 $str$1[2] = {3, 4};\n" + K.str());
  EXPECT_EQ(digestOfK(".extern .func vprintf();\n.global .b8 $str$1[2] = {3, 4};\n" + K.str()),
            Base);
  EXPECT_NE(digestOfK(Decls + ".global .b8 $str$1[2] = {3, 5};\n" + K.str()), Base);
}

static std::string assertingKernel(StringRef Message, StringRef Line, StringRef Rest = "") {
  return (".extern .func __assertfail();\n.global .b8 $str[2] = {" + Message +
          "};\n.entry k() { mov.u64 %rd3, $str; cvta.global.u64 %rd4, %rd3; mov.u32 %r1, " + Line +
          ";\n{ st.param.b64 [param0+0], %rd4; st.param.b64 [param1+0], %rd4;\n"
          "st.param.b32 [param2+0], %r1; st.param.b64 [param3+0], %rd9;\n"
          "call.uni __assertfail, (param0, param1, param2, param3); }\n" +
          Rest + " ret; }")
      .str();
}

TEST(KernelDigest, digest_messageFileAndLineOfAsserts_areIgnored) {
  EXPECT_EQ(digestOfK(assertingKernel("1, 2", "10")), digestOfK(assertingKernel("3, 4", "11")));
}

TEST(KernelDigest, digest_lineOfAssertWithAnotherUse_counts) {
  StringRef Use = "st.global.u32 [%rd8], %r1;";
  EXPECT_NE(digestOfK(assertingKernel("1, 2", "10", Use)),
            digestOfK(assertingKernel("1, 2", "11", Use)));
}

TEST(KernelDigest, digest_initialisers_areFollowed) {
  std::string K = ".entry k() { mov.u64 %rd1, table; ret; }\n";
  std::string Table = ".global .u64 table[1] = {f};\n";
  EXPECT_NE(digestOfK(".func f() { ret; }\n" + Table + K),
            digestOfK(".func f() { trap; }\n" + Table + K));
  EXPECT_EQ(digestOfK(".func f() { ret; }\n.func g() { ret; }\n" + Table + K),
            digestOfK(".func f() { ret; }\n.func g() { trap; }\n" + Table + K));
}

TEST(KernelDigest, digest_directivesCount_unknownEntryFails) {
  PtxModule Module = parsed(ptx(".entry k() { ret; } .entry j() .maxntid 32 { ret; }"));
  EXPECT_NE(cantFail(Module.kernelDigest("k")), cantFail(Module.kernelDigest("j")));
  EXPECT_EQ(messageOf(Module.kernelDigest("nosuch")), "PTX: no entry named nosuch");
}
