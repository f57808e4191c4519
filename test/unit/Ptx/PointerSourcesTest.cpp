#include "PtxTesting.h"

#include "Ptx/PointerSources.h"

#include "llvm/ADT/StringExtras.h"

using namespace carve;
using namespace llvm;

namespace {

/// The entry has a structure of 40 bytes, three words and an integer of 4 bytes.
const std::string Header =
    ".visible .entry k(.param .align 8 .b8 k_param_0[40], .param .u64 k_param_1, .param .u64 "
    "k_param_2, .param .u64 k_param_3, .param .u32 k_param_4) ";

/// Its registers, and the words 1 to 3 of its parameters in `%rd1` to `%rd3`.
const std::string Begin =
    "{ .reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<19>; .reg .f32 %f<9>; .reg .b64 %rd<29>; "
    ".reg .f64 %fd<9>; .reg .b64 %SP; .reg .b64 %SPL; .shared .align 8 .b8 tile[1024]; .local "
    ".align 8 .b8 __local_depot0[16]; ld.param.u64 %rd1, [k_param_1]; ld.param.u64 %rd2, "
    "[k_param_2]; ld.param.u64 %rd3, [k_param_3]; mov.u32 %r1, %tid.x; ";

/// Returns the places as `parameter+offset`, with `!` behind what may not be restrict, or the
/// error.
std::string shown(Expected<std::vector<PointerSource>> Sources) {
  if (!Sources)
    return toString(Sources.takeError());
  std::vector<std::string> Words;
  for (const auto &[P, MayBeRestrict] : *Sources)
    Words.push_back(std::to_string(P.Parameter) + "+" + std::to_string(P.Offset) +
                    (MayBeRestrict ? "" : "!"));
  return join(Words, " ");
}

std::string sources(const std::string &Body) {
  return shown(pointerSources(Header + Begin + Body + " ret; }", "k"));
}

/// Returns the reason why \p Body is not eligible; the places if it is.
std::string reason(const std::string &Body) {
  return StringRef(sources(Body)).split(':').first.str();
}

const std::string Unknown = "pointer-sources";
const std::string Exchange = "1+0!"; ///< The word 1 may not be restrict.

/// Accesses by the word 1, and a barrier.
const std::string Read = "ld.global.f32 %f1, [%rd1]; ";
const std::string Write = "st.global.f32 [%rd1], 0f00000000; ";
const std::string Update = Read + "add.f32 %f1, %f1, %f1; st.global.f32 [%rd1], %f1; ";
const std::string Bar = "bar.sync 0; ";

} // namespace

TEST(PointerSources, accessesByWordsOfParameters_areListedByRisingPlace) {
  EXPECT_EQ(sources("cvta.to.global.u64 %rd4, %rd2; cvta.to.global.u64 %rd5, %rd1; mul.wide.s32 "
                    "%rd6, %r1, 4; add.s64 %rd7, %rd4, %rd6; ld.global.f32 %f1, [%rd7]; add.s64 "
                    "%rd8, %rd5, %rd6; ld.global.nc.f32 %f2, [%rd8+4]; fma.rn.f32 %f3, %f1, %f2, "
                    "%f1; st.global.f32 [%rd7], %f3;"),
            "1+0 2+0");
  EXPECT_EQ(sources(""), "");
  EXPECT_EQ(sources("ld.param.u64 %rd4, [k_param_1]; st.global.u32 [%rd1], 1; ld.global.u32 %r2, "
                    "[%rd4];"),
            "1+0");
  EXPECT_EQ(sources("ld.f32 %f1, [%rd3]; prefetch.global.L2 [%rd2];"), "3+0");
}

TEST(PointerSources, fieldsOfAStructure_haveTheirOffsets) {
  EXPECT_EQ(sources("ld.param.u64 %rd4, [k_param_0+8]; st.global.u32 [%rd4], 0;"), "0+8");
  EXPECT_EQ(sources("ld.param.v2.u64 {%rd4, %rd5}, [k_param_0+16]; ld.global.u32 %r2, [%rd5]; "
                    "st.global.u32 [%rd4], %r2;"),
            "0+16 0+24");
  EXPECT_EQ(sources("ld.param::entry.b64 %rd4, [k_param_0+32]; ld.global.b32 %r2, [%rd4];"),
            "0+32");
}

TEST(PointerSources, indexFromMemory_isADistance) {
  EXPECT_EQ(sources("ld.global.u32 %r2, [%rd1]; mul.wide.s32 %rd4, %r2, 8; add.s64 %rd5, %rd2, "
                    "%rd4; ld.global.u64 %rd6, [%rd5]; shl.b64 %rd7, %rd6, 2; add.s64 %rd8, %rd3, "
                    "%rd7; ld.global.f32 %f1, [%rd8];"),
            "1+0 2+0 3+0");
  const std::string Bytewise = "add.s64 %rd5, %rd2, %rd4; ld.u8 %rs1, [%rd5];";
  EXPECT_EQ(sources("ld.global.s32 %rd4, [%rd1]; " + Bytewise), "1+0 2+0");
  EXPECT_EQ(reason("ld.global.s64 %rd4, [%rd1]; " + Bytewise), Unknown);
  EXPECT_EQ(sources("ld.global.u32 %r2, [%rd1]; cvt.u64.u32 %rd4, %r2; add.s64 %rd5, %rd2, %rd4; "
                    "ld.u8 %rs1, [%rd5];"),
            "1+0 2+0");
  EXPECT_EQ(sources("ld.global.u64 %rd4, [%rd1]; and.b64 %rd5, %rd4, 4294967295; mad.lo.s64 %rd6, "
                    "%rd4, 4, %rd2; ld.u8 %rs1, [%rd6]; add.s64 %rd7, %rd3, %rd5; ld.u8 %rs1, "
                    "[%rd7];"),
            "1+0 2+0 3+0");
}

TEST(PointerSources, wordThatIsADistance_isNoAddress) {
  EXPECT_EQ(sources("shl.b64 %rd4, %rd2, 3; add.s64 %rd5, %rd1, %rd4; ld.global.f64 %fd1, [%rd5]; "
                    "neg.s64 %rd6, %rd4; add.s64 %rd7, %rd5, %rd6; ld.global.f64 %fd1, [%rd7];"),
            "1+0");
  EXPECT_EQ(sources("cvt.u32.u64 %r2, %rd2; mad.lo.s32 %r3, %r1, %r2, %r1; mul.wide.s32 %rd4, "
                    "%r3, 4; add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f1, [%rd5];"),
            "1+0");
  // The smaller one of a word and an index, and a difference from it.
  EXPECT_EQ(sources("cvt.u64.u32 %rd4, %r1; min.u64 %rd5, %rd2, %rd4; sub.s64 %rd6, %rd4, %rd5; "
                    "shl.b64 %rd7, %rd5, 2; add.s64 %rd8, %rd1, %rd7; ld.global.f32 %f1, [%rd8]; "
                    "shl.b64 %rd9, %rd6, 2; add.s64 %rd10, %rd3, %rd9; st.global.f32 [%rd10], "
                    "%f1;"),
            "1+0 3+0");
}

TEST(PointerSources, inductionVariable_keepsItsWord) {
  EXPECT_EQ(sources("mov.u64 %rd4, %rd1; $L1: ld.global.f32 %f1, [%rd4]; add.s64 %rd4, %rd4, 4; "
                    "setp.lt.u64 %p1, %rd4, %rd2; @%p1 bra $L1;"),
            "1+0");
  EXPECT_EQ(sources("shl.b64 %rd7, %rd3, 2; mov.u64 %rd4, 0; $L1: add.s64 %rd5, %rd2, %rd4; "
                    "st.global.u32 [%rd5], 0; add.s64 %rd4, %rd4, %rd7; @%p1 bra $L1;"),
            "2+0");
  EXPECT_EQ(sources("selp.b64 %rd4, %rd1, 0, %p1; and.b64 %rd5, %rd4, -16; st.u32 [%rd5], 0; "
                    "@%p2 add.s64 %rd5, %rd5, 16;"),
            "1+0");
}

TEST(PointerSources, variables_needNoWord) {
  EXPECT_EQ(sources("mov.u64 %SPL, __local_depot0; cvta.local.u64 %SP, %SPL; add.u64 %rd4, %SP, 8; "
                    "st.u32 [%rd4], %r1; ld.local.u32 %r2, [%SPL];"),
            "");
  EXPECT_EQ(sources("ld.global.u32 %r2, [table+4]; mov.u64 %rd4, table; mul.wide.u32 %rd5, %r1, 4; "
                    "add.s64 %rd6, %rd4, %rd5; st.global.u32 [%rd6], 0; ld.const.f32 %f1, [c];"),
            "");
  EXPECT_EQ(sources("mov.u32 %r2, tile; shl.b32 %r3, %r1, 2; add.s32 %r4, %r2, %r3; cvt.u64.u32 "
                    "%rd4, %r4; cvta.shared.u64 %rd5, %rd4; st.u32 [%rd5], 0; ld.volatile.shared"
                    ".u32 %r5, [%r4]; atom.shared.cas.b32 %r6, [%r4], 0, 1;"),
            "");
}

TEST(PointerSources, addressOfAParameter_leadsToNumbers) {
  const std::string Indexed = "mov.b64 %rd4, k_param_0; mul.wide.u32 %rd5, %r1, 8; add.s64 %rd6, "
                              "%rd4, %rd5; ld.param.u64 %rd7, [%rd6]; ";
  EXPECT_EQ(sources(Indexed + "shl.b64 %rd8, %rd7, 2; add.s64 %rd9, %rd1, %rd8; st.global.u32 "
                              "[%rd9], 0;"),
            "1+0");
  EXPECT_EQ(reason(Indexed + "st.global.u32 [%rd7], 0;"), Unknown);
  EXPECT_EQ(reason("mov.b64 %rd4, k_param_0; cvta.param.u64 %rd5, %rd4; ld.u64 %rd6, [%rd5+8]; "
                   "st.u32 [%rd6], 0;"),
            Unknown);
}

TEST(PointerSources, matrices_areFollowedAndTexturesAreNot) {
  EXPECT_EQ(reason("tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}]; st.global.f32 [%rd2], "
                   "%f1;"),
            "texture-access")
      << "it may read what the store writes";
  EXPECT_EQ(sources("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r2, %r3}, [%rd1], 16; "
                    "wmma.store.d.sync.aligned.row.m16n16k16.f32 [%rd2], {%f1, %f2}, %r1;"),
            "1+0 2+0");
}

TEST(PointerSources, orderedAccessToSharedMemory_isAsGoodAsABarrier) {
  const std::string Both = "ld.global.f32 %f1, [%rd1]; st.global.f32 [%rd2], %f1; ";
  for (const char *Ordered :
       {"st.release.cta.shared::cta.u32 [tile], 1;", "ld.acquire.cta.shared.u32 %r2, [tile];",
        "atom.acq_rel.cta.shared.add.u32 %r2, [tile], 1;"})
    EXPECT_EQ(reason(Both + Ordered), "ordered-access") << Ordered;
  EXPECT_EQ(sources(Both + "ld.volatile.shared.u32 %r2, [tile]; atom.shared.cas.b32 %r2, [tile], "
                           "0, 1;"),
            "1+0 2+0");
  EXPECT_EQ(reason(Both + "ld.global.cv.f32 %f2, [%rd1];"), "ordered-access");
}

TEST(PointerSources, elementOfAVectorRegister_hasNoWord) {
  EXPECT_EQ(reason(".reg .v2 .u64 both; ld.global.v2.u64 both, [%rd1]; st.global.u32 [both.x], 0;"),
            Unknown);
}

TEST(PointerSources, accessesOnBothSidesOfABarrier_mustAllRead) {
  const std::string ReadOne = "ld.global.f32 %f1, [%rd1]; st.shared.f32 [tile], %f1; ";
  EXPECT_EQ(sources(ReadOne + "bar.sync 0; st.global.f32 [%rd2], %f1; ld.global.f32 %f1, [%rd1];"),
            "1+0 2+0");
  EXPECT_EQ(sources(ReadOne + "shfl.sync.down.b32 %r2|%p1, %r1, 1, 31, -1; st.global.f32 [%rd1], "
                              "%f1;"),
            "1+0");
  for (const char *Barrier :
       {"bar.sync 0;", "barrier.sync 0;", "bar.warp.sync -1;", "barrier.cluster.arrive;",
        "mbarrier.init.shared.b64 [tile], 1;", "@%p1 bar.sync 0;"})
    EXPECT_EQ(sources(ReadOne + Barrier + " st.global.f32 [%rd1], %f1;"), Exchange);
  EXPECT_EQ(sources(ReadOne + "bar.sync 0; bar.sync 0; red.global.add.f32 [%rd1], %f1;"), Exchange);
  EXPECT_EQ(sources(ReadOne + "ld.global.f32 %f2, [%rd2]; bar.sync 0; st.global.f32 [%rd1], %f1;"),
            "1+0! 2+0")
      << "others still may be restrict";
}

TEST(PointerSources, updateOnOneSideOfAllBarriers_isNoExchange) {
  EXPECT_EQ(sources(Bar + Bar + Update), "1+0");
  EXPECT_EQ(sources(Update + Bar + Bar), "1+0");
  EXPECT_EQ(sources(Bar + Write), "1+0");
  EXPECT_EQ(sources(Read + Bar + Read), "1+0");
  EXPECT_EQ(sources("$L1: st.shared.f32 [tile], %f1; " + Bar + "@%p1 bra $L1; " + Update), "1+0");
  EXPECT_EQ(sources("$L1: " + Update + "@%p1 bra $L1; " + Bar), "1+0");
  EXPECT_EQ(sources("@%p1 bra $L1; " + Update + "ret; $L1: " + Bar), "1+0");
}

TEST(PointerSources, writeOnOneSideOfABarrier_isAnExchangeWithTheOther) {
  EXPECT_EQ(reason(Write + Bar + Write), Exchange);
  EXPECT_EQ(reason(Write + Bar + Read), Exchange);
  EXPECT_EQ(reason(Read + Bar + Write), Exchange);
  EXPECT_EQ(reason(Read + Bar + Bar + Update), Exchange);
  EXPECT_EQ(reason(Update + Bar + Read), Exchange);
}

TEST(PointerSources, updateInALoopWithABarrier_isAnExchange) {
  EXPECT_EQ(reason("$L1: " + Update + Bar + "@%p1 bra $L1;"), Exchange);
  EXPECT_EQ(reason("$L1: " + Bar + Write + "@%p1 bra $L1;"), Exchange);
  EXPECT_EQ(
      reason("$L1: @%p1 bra $L2; " + Bar + "bra.uni $L3; $L2: " + Update + "$L3: @%p2 bra $L1;"),
      Exchange);
  EXPECT_EQ(sources("$L1: " + Read + Bar + "@%p1 bra $L1;"), "1+0");
}

TEST(PointerSources, barriersOnDifferentWays_meet) {
  EXPECT_EQ(reason("@%p1 bra $L1; " + Write + Bar + "bra.uni $L2; $L1: " + Bar + Read + "$L2: "),
            Exchange);
  EXPECT_EQ(sources("@%p1 bra $L1; " + Write + Bar + "bra.uni $L2; $L1: " + Write + Bar + "$L2: "),
            "1+0");
}

TEST(PointerSources, codeOutsideOfTheControlFlow_isOnBothSidesOfABarrier) {
  EXPECT_EQ(reason(Bar + "ret; " + Update), Exchange);
  EXPECT_EQ(reason(Update + "ret; " + Bar), Exchange);
  EXPECT_EQ(sources("ret; " + Update), "1+0");
  // The first branch leads to its own label only in the text.
  const std::string Scope = "{ @%p1 bra DONE; bra DONE; DONE: } ";
  EXPECT_EQ(sources(Scope + Bar + Update), "1+0");
  EXPECT_EQ(reason(Scope + Bar + Update + Scope), Exchange);
}

TEST(PointerSources, atomicOperation_isAWrite) {
  const std::string Add = "atom.global.add.u32 %r2, [%rd1], 1; ";
  EXPECT_EQ(sources(Bar + Add + "st.shared.u32 [tile], %r2;"), "1+0");
  EXPECT_EQ(sources(Add + "st.shared.u32 [tile], %r2; " + Bar), "1+0");
  EXPECT_EQ(reason(Add + Bar + Read), Exchange);
  EXPECT_EQ(reason(Add + Bar + "red.global.add.u32 [%rd1], 1;"), Exchange);
}

TEST(PointerSources, addressWithoutASingleWord_isUnsupported) {
  EXPECT_EQ(sources("ld.global.u64 %rd4, [%rd1]; ld.global.f32 \t%f1, [%rd4];"),
            "pointer-sources: the address in `ld.global.f32 %f1, [%rd4]` was loaded from memory or "
            "is put together");
  EXPECT_EQ(sources("selp.b64 %rd4, %rd1, %rd2, %p1; st.u32 [%rd4], 0;"),
            "pointer-sources: the address in `st.u32 [%rd4], 0` comes from several parameters or "
            "variables");
  EXPECT_EQ(sources("cvt.u64.u32 %rd4, %r1; st.u32 [%rd4], 0;"),
            "pointer-sources: the address in `st.u32 [%rd4], 0` comes from no parameter and no "
            "variable");
  EXPECT_EQ(reason("st.global.u32 [4096], 0;"), Unknown);
  EXPECT_EQ(reason("shr.u64 %rd4, %rd1, 1; shl.b64 %rd5, %rd4, 1; st.u32 [%rd5], 0;"), Unknown);
  EXPECT_EQ(reason("cvta.shared.u64 %rd4, %rd5; selp.b64 %rd6, %rd4, %rd1, %p1; st.u32 [%rd6], 0;"),
            Unknown);
  EXPECT_EQ(reason("mov.u64 %rd4, table; xor.b64 %rd5, %rd4, 8; st.u32 [%rd5], 0;"), Unknown);
  EXPECT_EQ(reason("createpolicy.fractional.L2::evict_last.b64 %rd4; st.u32 [%rd4], 0;"), Unknown);
  for (const char *Space : {"local", "shared", "const", "global"})
    EXPECT_EQ(reason("ld." + std::string(Space) +
                     ".v2.u64 {%rd4, %rd5}, [table]; st.u32 [%rd5], "
                     "0;"),
              Unknown);
}

TEST(PointerSources, addressOnSomeWaysOnly_isUnsupported) {
  EXPECT_EQ(sources("mul.wide.u32 %rd5, %r1, 4; selp.b64 %rd4, %rd1, %rd5, %p1; st.u32 [%rd4], 0;"),
            "pointer-sources: the address in `st.u32 [%rd4], 0` comes from a parameter or a "
            "variable only on some ways");
  EXPECT_EQ(reason("mov.u64 %rd4, %rd1; @%p1 shr.u64 %rd4, %rd2, 8; add.s64 %rd5, %rd4, 4; st.u32 "
                   "[%rd5], 0;"),
            Unknown);
}

TEST(PointerSources, differenceOfAddresses_isUnsupported) {
  const std::string Differ = "ld.global.u32 %r2, [%rd1]; sub.s64 %rd4, %rd2, %rd1; ";
  EXPECT_EQ(reason(Differ + "add.s64 %rd5, %rd3, %rd4; st.u32 [%rd5], 0;"), Unknown);
  EXPECT_EQ(sources(Differ + "shl.b64 %rd5, %rd4, 2; add.s64 %rd6, %rd3, %rd5; st.u32 [%rd6], 0;"),
            "pointer-sources: the address in `st.u32 [%rd6], 0` has a distance from parameter 1+0, "
            "which is an address elsewhere");
}

TEST(PointerSources, addressPutTogetherOfParts_isUnsupported) {
  EXPECT_EQ(reason("mov.b64 {%r2, %r3}, %rd1; add.s32 %r4, %r2, 4; mov.b64 %rd4, {%r4, %r3}; "
                   "st.u32 [%rd4], 0;"),
            Unknown);
  EXPECT_EQ(reason("ld.param.v2.u32 {%r2, %r3}, [k_param_1]; mov.b64 %rd4, {%r2, %r3}; st.u32 "
                   "[%rd4], 0;"),
            Unknown);
  EXPECT_EQ(reason("ld.global.f64 %fd1, [%rd1]; mov.b64 %rd4, %fd1; st.u32 [%rd4], 0;"), Unknown);
  EXPECT_EQ(reason("mov.b64 {%r2, %r3}, %rd1; mov.b64 %rd4, {%r2, %r3}; add.s64 %rd5, %rd2, %rd4; "
                   "st.u32 [%rd5], 0;"),
            Unknown);
}

TEST(PointerSources, eachExcludedInstruction_hasItsReason) {
  const std::pair<const char *, const char *> Cases[] = {
      {"membar.gl;", "memory-fence"},
      {"fence.acq_rel.gpu;", "memory-fence"},
      {"griddepcontrol.wait;", "programmatic-launch"},
      {"ld.volatile.global.u32 %r2, [%rd1];", "ordered-access"},
      {"st.volatile.u32 [%rd1], 0;", "ordered-access"},
      {"ld.relaxed.gpu.global.u32 %r2, [%rd1];", "ordered-access"},
      {"st.release.gpu.global.u32 [%rd1], 0;", "ordered-access"},
      {"atom.acq_rel.gpu.global.add.u32 %r2, [%rd1], 1;", "ordered-access"},
      {"red.global.sys.add.u32 [%rd1], 1;", "ordered-access"},
      {"atom.global.cas.b32 %r2, [%rd1], 0, 1;", "lock"},
      {"atom.exch.b32 %r2, [%rd1], 0;", "lock"},
      {"$L1: atom.global.add.u32 %r2, [%rd1], 0; setp.eq.u32 %p1, %r2, 0; @%p1 bra $L1;",
       "spin-loop"},
      {"nanosleep.u32 20;", "waits"},
      {"call.uni f, (a);", "calls-function"},
      {"suld.b.2d.b32.trap %r2, [s, {%r1, %r1}];", "surface-access"},
      {"sust.b.2d.b32.trap [s, {%r1, %r1}], %r2;", "surface-access"},
      {"cp.async.ca.shared.global [tile], [%rd1], 16;", "asynchronous-copy"},
      {"cp.async.wait_all;", "asynchronous-copy"},
      {"red.async.relaxed.cluster.add.u32 [%r1], %r2;", "asynchronous-copy"},
      {"st.async.shared::cluster.b32 [%r1], %r2, [%r3];", "asynchronous-copy"},
      {"ld.shared::cluster.u32 %r2, [%r1];", "cluster-memory"},
      {"multimem.red.relaxed.gpu.global.add.u32 [%rd1], %r2;", "multimem"},
      {"discard.global.L2 [%rd1], 128;", "cache-control"},
      {"alloca.u64 %rd4, 16;", "stack-allocation"},
      {"mbarrier.init.b64 [%rd1], 1;", "unknown-access"},
      {"newop.global.u32 %r2, [%rd1];", "unknown-access"}};
  for (auto [Text, Reason] : Cases)
    EXPECT_EQ(reason(Text), Reason) << Text;
}

TEST(PointerSources, entryOfAModule_isUnsupportedIfItCalls) {
  PtxModule Module =
      parsed(ptx(".func f() { ret; }\n.visible .entry k(.param .u64 k_param_0) { .reg .b64 %rd<3>; "
                 "ld.param.u64 %rd1, [k_param_0]; st.global.u32 [%rd1], 0; ret; }\n.visible .entry "
                 "c() { call.uni f; ret; }\n"));
  EXPECT_EQ(shown(Module.pointerSources("k")), "0+0");
  EXPECT_EQ(shown(Module.pointerSources("c")), "calls-function: f");
  EXPECT_EQ(shown(Module.pointerSources("none")), "PTX: no entry named none");
}

TEST(PointerSources, addressesThatMayBeRestrict_areParametersThemselves) {
  EXPECT_EQ(restrictParameters({{{0, 0}}, {{1, 0}, false}, {{2, 8}}, {{3, 0}}}),
            (std::vector<unsigned>{0, 3}));
  EXPECT_EQ(restrictParameters({}), std::vector<unsigned>());
}
