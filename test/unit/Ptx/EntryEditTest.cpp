// Tests what an EntryEdit changes in the text, and what it refuses.
#include "PtxTesting.h"

#include "Support/Error.h"

using namespace carve;
using namespace llvm;

namespace {

std::string edited(const PtxModule &Base, StringRef Entry, const EntryEdit &Edit) {
  StringMap<EntryEdit> Edits;
  Edits[Entry] = Edit;
  auto Text = Base.withEdits(Edits);
  return Text ? *Text : toString(Text.takeError());
}

std::string cached(const std::string &Instruction, LoadCaching Loads = LoadCaching::L2Only) {
  EntryEdit Edit;
  Edit.Loads = Loads;
  std::string Text = edited(parsed(ptx(".entry k() { " + Instruction + "; ret; }")), "k", Edit);
  return StringRef(Text).split("{ ").second.split("; ret").first.str();
}

EntryEdit from(const PtxModule &Flavour, std::string Suffix = "__f") {
  EntryEdit Edit;
  Edit.FrontEnd = &Flavour;
  Edit.CalleeSuffix = std::move(Suffix);
  return Edit;
}

/// Returns the reason before the error's text, or the whole text if the error is not an
/// Unsupported.
std::string refusal(const PtxModule &Base, const PtxModule &Flavour, StringRef Entry = "k") {
  StringMap<EntryEdit> Edits;
  Edits[Entry] = from(Flavour);
  auto Text = Base.withEdits(Edits);
  if (Text)
    return "";
  Error Failed = Text.takeError();
  bool Known = Failed.isA<Unsupported>();
  std::string Message = toString(std::move(Failed));
  return Known ? StringRef(Message).split(": ").first.str() : Message;
}

const std::string Declarations = "front-end-declarations";

} // namespace

TEST(EntryEdit, l2Only_plainLoads_getCacheOperator) {
  EXPECT_EQ(cached("ld.global.f32 %f1, [%rd1]"), "ld.global.cg.f32 %f1, [%rd1]");
  EXPECT_EQ(cached("@!%p1 ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]"),
            "@!%p1 ld.global.cg.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]");
  EXPECT_EQ(cached("ld.weak.global.u8 %r1, [%rd1]"), "ld.weak.global.cg.u8 %r1, [%rd1]");
  EXPECT_EQ(cached("ld.global.L2::128B.b64 %rd2, [%rd1]"),
            "ld.global.cg.L2::128B.b64 %rd2, [%rd1]");
  EXPECT_EQ(cached("ld.f64 %fd1, [%rd1]"), "ld.cg.f64 %fd1, [%rd1]");
}

TEST(EntryEdit, evictFirst_globalLoads_getCacheOperator) {
  auto First = [](const std::string &Load) { return cached(Load, LoadCaching::EvictFirst); };
  EXPECT_EQ(First("ld.global.f32 %f1, [%rd1]"), "ld.global.cs.f32 %f1, [%rd1]");
  EXPECT_EQ(First("ld.global.b8 %rs1, [%rd1+-4]"), "ld.global.cs.b8 %rs1, [%rd1+-4]");
  EXPECT_EQ(First("ld.global.b128 %q1, [%rd1]"), "ld.global.cs.b128 %q1, [%rd1]");
  EXPECT_EQ(First("@%p1 ld.weak.global.u16 %rs1, [g+8]"), "@%p1 ld.weak.global.cs.u16 %rs1, [g+8]");
  EXPECT_EQ(First("@!%p1 ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]"),
            "@!%p1 ld.global.cs.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]");
  EXPECT_EQ(First("ld.global.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%rd1]"),
            "ld.global.cs.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%rd1]");
  EXPECT_EQ(First("ld.global.L2::128B.b64 %rd2, [%rd1]"), "ld.global.cs.L2::128B.b64 %rd2, [%rd1]");
  EXPECT_EQ(First("ld.global.nc.f32 %f1, [%rd1]"), "ld.global.cs.nc.f32 %f1, [%rd1]");
  EXPECT_EQ(First("ld.global.nc.v2.f64 {%fd1, %fd2}, [%rd1+16]"),
            "ld.global.cs.nc.v2.f64 {%fd1, %fd2}, [%rd1+16]");
  EXPECT_EQ(First("ld.global.nc.L2::256B.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1]"),
            "ld.global.cs.nc.L2::256B.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1]");
}

TEST(EntryEdit, noAllocate_globalLoads_getEvictionPriority) {
  auto None = [](const std::string &Load) { return cached(Load, LoadCaching::NoAllocate); };
  EXPECT_EQ(None("ld.global.f32 %f1, [%rd1]"), "ld.global.L1::no_allocate.f32 %f1, [%rd1]");
  EXPECT_EQ(None("ld.weak.global.s8 %r1, [%rd1]"), "ld.weak.global.L1::no_allocate.s8 %r1, [%rd1]");
  EXPECT_EQ(None("@%p2 ld.global.v2.b64 {%rd2, %rd3}, [%rd1+32]"),
            "@%p2 ld.global.L1::no_allocate.v2.b64 {%rd2, %rd3}, [%rd1+32]");
  EXPECT_EQ(None("ld.global.L2::64B.b64 %rd2, [%rd1]"),
            "ld.global.L1::no_allocate.L2::64B.b64 %rd2, [%rd1]");
  EXPECT_EQ(None("ld.global.nc.f32 %f1, [%rd1]"), "ld.global.nc.L1::no_allocate.f32 %f1, [%rd1]");
  EXPECT_EQ(None("ld.global.nc.L2::128B.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]"),
            "ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]");
}

TEST(EntryEdit, hints_genericLoads_stay) {
  // They may read local memory, whose content `.cs` lets go.
  for (LoadCaching Loads : {LoadCaching::EvictFirst, LoadCaching::NoAllocate})
    for (const char *Load : {"ld.f32 %f1, [%rd1]", "ld.weak.b64 %rd2, [%rd1]",
                             "ld.L2::128B.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]"})
      EXPECT_EQ(cached(Load, Loads), Load);
  const PtxModule Generic = parsed(ptx(".entry k() { ld.f32 %f1, [%rd1]; }"));
  EXPECT_TRUE(Generic.find("k")->Loads.by(LoadCaching::L2Only));
  EXPECT_FALSE(Generic.find("k")->Loads.by(LoadCaching::EvictFirst));
  const PtxModule Constant = parsed(ptx(".entry k() { ld.global.nc.f32 %f1, [%rd1]; }"));
  EXPECT_FALSE(Constant.find("k")->Loads.by(LoadCaching::L2Only));
  EXPECT_TRUE(Constant.find("k")->Loads.by(LoadCaching::NoAllocate));
}

TEST(EntryEdit, loadCaching_otherInstructions_stay) {
  for (const char *Load : {"ld.global.ca.f32 %f1, [%rd1]",
                           "ld.global.cg.f32 %f1, [%rd1]",
                           "ld.global.cs.f32 %f1, [%rd1]",
                           "ld.global.lu.f32 %f1, [%rd1]",
                           "ld.global.cv.f32 %f1, [%rd1]",
                           "ld.global.ca.nc.f32 %f1, [%rd1]",
                           "ld.global.nc.L1::evict_last.f32 %f1, [%rd1]",
                           "ld.global.nc.L2::cache_hint.f32 %f1, [%rd1], %rd2",
                           "ld.global.L1::evict_first.L2::cache_hint.f32 %f1, [%rd1], %rd2",
                           "ld.volatile.global.f32 %f1, [%rd1]",
                           "ld.relaxed.gpu.global.f32 %f1, [%rd1]",
                           "ld.acquire.sys.global.u32 %r1, [%rd1]",
                           "ld.mmio.relaxed.sys.global.u32 %r1, [%rd1]",
                           "ld.global.L1::no_allocate.f32 %f1, [%rd1]",
                           "ld.global.L2::cache_hint.f32 %f1, [%rd1], %rd2",
                           "ld.param.u64 %rd1, [k_param_0]",
                           "ld.param::entry.u64 %rd1, [k_param_0]",
                           "ld.param.v2.b32 {%r1, %r2}, [retval0]",
                           "ld.shared.f32 %f1, [%rd1]",
                           "ld.shared::cluster.f32 %f1, [%rd1]",
                           "ld.local.f32 %f1, [%rd1]",
                           "ld.const.f32 %f1, [%rd1]",
                           "ldu.global.f32 %f1, [%rd1]",
                           "st.global.f32 [%rd1], %f1",
                           "/* ld.global.f32 %f1, [%rd1]; */ membar.gl"})
    for (LoadCaching Loads :
         {LoadCaching::L2Only, LoadCaching::EvictFirst, LoadCaching::NoAllocate})
      EXPECT_EQ(cached(Load, Loads), Load);
  EXPECT_EQ(cached("ld.global.nc.f32 %f1, [%rd1]"), "ld.global.nc.f32 %f1, [%rd1]");
  const PtxModule Shared = parsed(ptx(".entry k() { ld.shared.f32 %f1, [%rd1]; }"));
  EXPECT_FALSE(Shared.find("k")->Loads.by(LoadCaching::L2Only));
  EXPECT_FALSE(Shared.find("k")->Loads.by(LoadCaching::EvictFirst));
}

TEST(EntryEdit, loadCaching_calleesWithLoads_areCopied) {
  PtxModule Base = parsed(ptx(".global .u32 g;\n"
                              ".func f() { ld.global.u32 %r1, [g]; call h; ret; }\n"
                              ".func h() { ret; }\n"
                              ".entry k() { call f; ret; }\n.entry l() { call f; ret; }\n"
                              ".entry m() { ld.global.u32 %r1, [g]; call h; ret; }\n"));
  EXPECT_TRUE(Base.find("k")->Loads.by(LoadCaching::L2Only));
  EntryEdit Edit;
  Edit.Loads = LoadCaching::L2Only;
  Edit.CalleeSuffix = "__cg";
  std::string Text = edited(Base, "k", Edit);
  EXPECT_NE(Text.find(".func f__cg();\n.func h__cg();\n"
                      ".func f__cg() { ld.global.cg.u32 %r1, [g]; call h__cg; ret; }\n"
                      ".func h__cg() { ret; }\n"
                      ".entry k() { call f__cg; ret; }\n.entry l() { call f; ret; }"),
            std::string::npos)
      << Text;
  Edit.Loads = LoadCaching::NoAllocate;
  Edit.CalleeSuffix = "__na";
  EXPECT_NE(edited(Base, "k", Edit)
                .find(".func f__na() { ld.global.L1::no_allocate.u32 %r1, [g]; call h__na; ret; }"),
            std::string::npos);
  Edit.Loads = LoadCaching::L2Only;
  // Functions without loads are not copied.
  EXPECT_NE(edited(Base, "m", Edit).find("ld.global.cg.u32 %r1, [g]; call h; ret; }"),
            std::string::npos);
}

TEST(EntryEdit, smemSpilling_entryWithoutBlockLimit_getsOne) {
  PtxModule Base = parsed(ptx(".entry k()\n{ ret; }\n.entry b() .maxntid 64\n{ ret; }\n"
                              ".entry r() .reqntid 64\n{ ret; }\n"));
  EntryEdit Edit;
  Edit.SmemSpillingMaxThreads = 256;
  Edit.RegisterCap = 32;
  std::string Pragma = "\n{\n\t.pragma \"enable_smem_spilling\"; ret; }";
  EXPECT_NE(edited(Base, "k", Edit).find(".entry k()\n.maxntid 256, 1, 1\n.maxnreg 32" + Pragma),
            std::string::npos);
  EXPECT_NE(edited(Base, "b", Edit).find(".entry b() .maxntid 64\n.maxnreg 32" + Pragma),
            std::string::npos);
  EXPECT_NE(edited(Base, "r", Edit).find(".entry r() .reqntid 64\n.maxnreg 32" + Pragma),
            std::string::npos);
}

TEST(EntryEdit, dynamicSharedMemory_usedByCallee_isSeen) {
  PtxModule Base = parsed(ptx(".extern .shared .align 16 .b8 dynamic[];\n"
                              ".shared .align 16 .b8 fixed[64];\n.extern .global .u32 g;\n"
                              ".func f() { mov.u32 %r1, dynamic; ret; }\n"
                              ".entry a() { ld.shared.u32 %r1, [dynamic+4]; ret; }\n"
                              ".entry b() { call f; ret; }\n"
                              ".entry c() { mov.u32 %r1, fixed; ld.global.u32 %r2, [g]; ret; }\n"));
  EXPECT_TRUE(Base.find("a")->UsesDynamicSmem);
  EXPECT_TRUE(Base.find("b")->UsesDynamicSmem);
  EXPECT_FALSE(Base.find("c")->UsesDynamicSmem);
}

TEST(EntryEdit, flavour_givesBody_baseKeepsDirectives) {
  PtxModule Base = parsed(ptx(".visible .entry k(.param .u64 k_param_0) .maxntid 64 .maxnreg 40\n"
                              "{ ld.param.u64 %rd1, [k_param_0]; ret; }\n.entry l() { ret; }\n"));
  PtxModule Flavour = parsed(ptx(".visible .entry k(\n\t.param .u64 k_param_0\n) .maxntid 64\n"
                                 "{ add.u32 %r1, %r1, 1; ld.param.u64 %rd1, [k_param_0]; }\n"));
  EXPECT_EQ(edited(Base, "k", from(Flavour)),
            ptx(".visible .entry k(.param .u64 k_param_0) .maxntid 64 .maxnreg 40\n"
                "{ add.u32 %r1, %r1, 1; ld.param.u64 %rd1, [k_param_0]; }\n.entry l() { ret; }\n"));
  EntryEdit Capped = from(Flavour);
  Capped.RegisterCap = 32;
  std::string Text = cantFail(Base.withClones({{"k", "c", Capped}}));
  EXPECT_NE(Text.find(".visible .entry c(.param .u64 c_param_0) .maxntid 64 .maxnreg 32\n"
                      "{ add.u32 %r1, %r1, 1; ld.param.u64 %rd1, [c_param_0]; }\n"),
            std::string::npos)
      << Text;
}

TEST(EntryEdit, flavour_withFunctions_copiesEachOnceInOrder) {
  // `inner` is declared after its caller and defined before it, as cicc may do.
  std::string Functions =
      ".extern .func vprintf(.param .b64 a);\n.func outer(.param .b32 outer_param_0);\n"
      ".func inner();\n.func unused() { ret; }\n";
  std::string Entries = ".entry k() { call outer, (%r1); ret; }\n.entry l() { call inner; ret; }\n";
  PtxModule Base = parsed(ptx(Functions + Entries +
                              ".func inner() { ret; }\n"
                              ".func outer(.param .b32 outer_param_0) { call inner; }\n"));
  PtxModule Flavour =
      parsed(ptx(Functions + Entries +
                 ".func inner() { call vprintf, (%rd1); mov.u32 %r7, 7; ret; }\n"
                 ".func outer(.param .b32 outer_param_0)\n"
                 "{ ld.param.b32 %r1, [outer_param_0]; outer_label: call inner; ret; }\n"));
  std::string Text = cantFail(
      Base.withClones({{"l", "l__2", from(Flavour)}, {"k", "k__2", from(Flavour)}, {"k", "k__3"}}));
  EXPECT_NE(Text.find(".func unused() { ret; }\n"
                      ".func outer__f(.param .b32 outer__f_param_0);\n.func inner__f();\n"
                      ".func inner__f() { call vprintf, (%rd1); mov.u32 %r7, 7; ret; }\n"
                      ".func outer__f(.param .b32 outer__f_param_0)\n"
                      "{ ld.param.b32 %r1, [outer__f_param_0]; outer_label: call inner__f; ret; }\n"
                      ".entry k() { call outer, (%r1); ret; }\n"
                      ".entry k__2() { call outer__f, (%r1); ret; }\n"
                      ".entry k__3() { call outer, (%r1); ret; }\n"
                      ".entry l() { call inner; ret; }\n"
                      ".entry l__2() { call inner__f; ret; }\n"),
            std::string::npos)
      << Text;
}

TEST(EntryEdit, suffix_sharedByTwoFlavours_fails) {
  PtxModule Base = parsed(ptx(".func f() { ret; }\n.entry k() { call f; }\n"));
  PtxModule One = parsed(Base.text()), Two = parsed(Base.text());
  EXPECT_EQ(messageOf(Base.withClones({{"k", "a", from(One)}, {"k", "b", from(Two)}})),
            "PTX: the name f__f is taken");
  EXPECT_EQ(messageOf(Base.withClones({{"k", "a", from(One)}, {"k", "b", from(Two, "__g")}})), "");
  EXPECT_EQ(messageOf(Base.withClones({{"k", "a", from(One, "")}})), "PTX: the name f is taken");
}

TEST(EntryEdit, flavour_withAlias_copiesItsTarget) {
  std::string Text = ".func a(); .func b() { ret; } .alias a, b;\n.entry k() { call a; }\n";
  PtxModule Base = parsed(ptx(Text)), Flavour = parsed(ptx(Text));
  EXPECT_NE(edited(Base, "k", from(Flavour)).find(".entry k() { call b__f; }"), std::string::npos);
}

TEST(EntryEdit, numberedStrings_renumbered_areFoundByContent) {
  PtxModule Base = parsed(ptx(".global .align 1 .b8 $str[2] = {1, 0};\n"
                              ".global .align 1 .b8 $str$1[2] = {2, 0};\n"
                              ".global .u64 table[1] = {generic($str$1)};\n"
                              ".global .u64 other[1] = {generic($str)};\n"
                              ".entry k() { ret; }\n"));
  PtxModule Flavour = parsed(ptx(".global .align 1 .b8 $str[2] = {2, 0}; // moved up\n"
                                 ".global .align 1 .b8 $str$1[2] = {3, 0};\n"
                                 ".global .u64 table[1] = {generic($str)};\n"
                                 ".global .u64 other[1] = {generic($str)};\n"
                                 ".entry k() { mov.u64 %rd1, $str; mov.u64 %rd2, table; ret; }\n"
                                 ".entry s() { mov.u64 %rd1, $str$1; ret; }\n"
                                 ".entry t() { mov.u64 %rd1, other; ret; }\n"));
  EXPECT_NE(edited(Base, "k", from(Flavour))
                .find(".entry k() { mov.u64 %rd1, $str$1; mov.u64 %rd2, table; ret; }"),
            std::string::npos);
  PtxModule Wider = parsed(Base.text() + ".entry s() { ret; }\n.entry t() { ret; }\n");
  EXPECT_EQ(refusal(Wider, Flavour, "s"), Declarations);
  EXPECT_EQ(refusal(Wider, Flavour, "t"), Declarations);
}

TEST(EntryEdit, flavour_baseDeclaresDifferently_isRefused) {
  std::string Body = ".entry k() { ld.global.u32 %r1, [g]; call f, (p); ret; }\n";
  auto Module = [&](const std::string &Declarations) { return parsed(ptx(Declarations + Body)); };
  std::string Variable = ".global .align 4 .u32 g = 1;\n",
              Function = ".extern .func f(.param .b64 a);\n";
  PtxModule Flavour = Module(Variable + Function);
  EXPECT_EQ(refusal(Module(".global  .align 4 /* same */ .u32 g = 1;\n" + Function), Flavour), "");
  EXPECT_EQ(refusal(Module(".global .align 4 .u32 g = 2;\n" + Function), Flavour), Declarations);
  EXPECT_EQ(refusal(Module(".const .align 4 .u32 g = 1;\n" + Function), Flavour), Declarations);
  EXPECT_EQ(refusal(Module(Function), Flavour), Declarations);
  EXPECT_EQ(refusal(Module(Variable), Flavour), Declarations);
  EXPECT_EQ(refusal(Module(Variable + ".extern .func f(.param .b32 a);\n"), Flavour), Declarations);
  EXPECT_EQ(refusal(Module(Variable + ".func f(.param .b64 a) { ret; }\n"), Flavour), Declarations);
}

TEST(EntryEdit, flavour_ofAnotherSource_isRefused) {
  std::string Debug = ".section .debug_info { .b8 1 }\n";
  PtxModule Base =
      parsed(ptx(".func f() { ret; }\n.entry k(.param .u32 k_param_0) { ret; }\n" + Debug));
  auto Refusal = [&](const std::string &Text) { return refusal(Base, parsed(ptx(Text))); };
  EXPECT_EQ(Refusal(".entry k(.param .u32 k_param_0) { ret; }\n" + Debug), "");
  for (const char *Pointee : {".ptr", ".ptr .align 1", ".ptr .global", ".ptr .shared .align 16"})
    EXPECT_EQ(
        Refusal(".entry k(.param .u32 " + std::string(Pointee) + " k_param_0) { ret; }\n" + Debug),
        "");
  EXPECT_EQ(Refusal(".entry k(.param .u64 k_param_0) { ret; }\n" + Debug), Declarations);
  EXPECT_EQ(Refusal(".entry k(.param .u64 .ptr .align 1 k_param_0) { ret; }\n" + Debug),
            Declarations);
  EXPECT_EQ(Refusal(".entry k(.param .align 8 .u32 k_param_0) { ret; }\n" + Debug), Declarations);
  EXPECT_EQ(Refusal(".entry other(.param .u32 k_param_0) { ret; }\n" + Debug), Declarations);
  EXPECT_EQ(Refusal(".entry k(.param .u32 k_param_0) { ret; }\n"), Declarations);
  // Here inline assembly declares a register with a function's name.
  EXPECT_EQ(Refusal(".func f() { ret; }\n.entry k(.param .u32 k_param_0)\n"
                    "{ { .reg .u32 f; mov.u32 f, 1; } call f; ret; }\n" +
                    Debug),
            Declarations);
}

TEST(EntryEdit, lineDirectives_otherFileNumbers_nameFilesOfTheBase) {
  PtxModule Base = parsed(ptx(".entry k() { ret; }\n.file 1 \"a.cu\"\n.file 2 \"b.h\"\n"
                              ".section .debug_str\n{\n$L__info_string0:\n.b8 1,2\n.b8 3\n\n"
                              "$L__info_string1:\n.b8 4\n\n}\n"));
  PtxModule Flavour = parsed(ptx(
      ".entry k() {\n.loc\t1 7 3\n.loc 2 8 4, function_name $L__info_string0, inlined_at 1 9 5\n"
      ".loc 2 8 4, function_name $L__info_string1, inlined_at 2 9 5\n"
      ".loc 3 1 1\n.loc 2 8 4, function_name $L__info_string2, inlined_at 1 9 5\nret; }\n"
      ".file 1 \"b.h\"\n.file 2 \"a.cu\"\n.file 3 \"c.h\"\n"
      ".section .debug_str\n{\n$L__info_string0:\n.b8 4\n\n"
      "$L__info_string1:\n.b8 1,2\n.b8 3\n\n$L__info_string2:\n.b8 5\n}\n"));
  std::string Text = edited(Base, "k", from(Flavour));
  EXPECT_NE(
      Text.find("{\n.loc 2 7 3\n.loc 1 8 4, function_name $L__info_string1, inlined_at 2 9 5\n"
                ".loc 1 8 4, function_name $L__info_string0, inlined_at 1 9 5\n\n\nret; }"),
      std::string::npos)
      << Text;
}

TEST(EntryEdit, emptyEdit_changesNothing) {
  PtxModule Base = parsed(recorded("kernels.cuda-13.0.88.ptx"));
  StringMap<EntryEdit> Edits;
  for (const PtxEntry &E : Base.entries())
    Edits[E.Name] = {};
  EXPECT_EQ(cantFail(Base.withEdits(Edits)), Base.text());
  Edits["nosuch"] = {};
  EXPECT_EQ(messageOf(Base.withEdits(Edits)), "PTX: no entry named nosuch");
}

TEST(EntryEdit, editsAndClones_inOneText_shareCopiedFunctions) {
  PtxModule Base = parsed(ptx(".func f() { ld.global.u32 %r1, [%rd1]; ret; }\n"
                              ".entry k() { call f; ret; }\n.entry other() { ret; }\n"));
  EntryEdit Cached;
  Cached.Loads = LoadCaching::L2Only;
  Cached.CalleeSuffix = "__carve_cg";
  EntryEdit Capped = Cached;
  Capped.RegisterCap = 40;
  llvm::StringMap<EntryEdit> Edits;
  Edits["k"] = Cached;
  llvm::Expected<std::string> Text = Base.changed(
      Edits, {{"k", "k__carve_e1", Capped}, {"k", "k__carve_e2", {}}, {"other", "new", {}}});
  ASSERT_TRUE(bool(Text)) << llvm::toString(Text.takeError());
  EXPECT_EQ(llvm::StringRef(*Text).count("ld.global.cg.u32"), 1u);
  EXPECT_EQ(llvm::StringRef(*Text).count("call f__carve_cg;"), 2u);
  PtxModule New = parsed(*Text);
  EXPECT_EQ(New.entries().size(), 5u);
  EXPECT_EQ(New.find("k__carve_e1")->Directives.MaxNReg, 40u);
  EXPECT_NE(New.definitionOf("k__carve_e2").find("call f;"), llvm::StringRef::npos)
      << "a clone comes from the entry before its edit";
  EXPECT_FALSE(bool(Base.changed(Edits, {{"k", "other", {}}})) && "the name is taken");
}
