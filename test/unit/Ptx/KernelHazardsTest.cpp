#include "Ptx/KernelHazards.h"

#include "PtxTesting.h"

using namespace carve;

static constexpr const char *Declarations =
    ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
    ".extern .func (.param .b64 r) malloc(.param .b64 a);\n"
    ".extern .func free(.param .b64 a);\n"
    ".extern .func __assertfail(.param .b64 a);\n"
    ".extern .func (.param .b32 r) cudaGetLastError();\n"
    ".extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 a);\n"
    ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 a);\n"
    ".extern .func other(.param .b64 a);\n"
    ".global .attribute(.managed) .align 4 .u32 shared_count;\n"
    ".global .align 4 .u32 own_count;\n";

static PtxModule withBody(const std::string &Body) {
  return parsed(ptx(std::string(Declarations) + ".visible .entry k() {\n" + Body + "\nret;\n}\n"));
}

static KernelHazards hazardsOf(const std::string &Body) {
  PtxModule Module = withBody(Body);
  return llvm::cantFail(Module.kernelHazards("k"));
}

/// Returns hazards of which only \p Member is set.
static KernelHazards only(bool KernelHazards::*Member) {
  KernelHazards H;
  H.*Member = true;
  return H;
}

TEST(KernelHazards, ordinaryKernel_hasNoHazards) {
  EXPECT_EQ(hazardsOf("ld.global.u32 %r1, [%rd1];\natom.global.gpu.add.u32 %r2, [%rd1], %r1;\n"
                      "fence.acq_rel.gpu;\nmembar.gl;\nsuld.b.2d.b32.trap %r1, [s, {%r1, %r2}];\n"
                      "red.async.relaxed.cluster.add.u32 [%r1], %r2;\nld.global.u32 %r3, "
                      "[own_count];"),
            KernelHazards());
}

TEST(KernelHazards, eachHazard_isFound) {
  auto Call = [](const char *Name) { return std::string("call.uni ") + Name + ", (a);"; };
  EXPECT_EQ(hazardsOf("call.uni (r), vprintf, (a, b);"), only(&KernelHazards::Printf));
  EXPECT_EQ(hazardsOf("call.uni (r), malloc, (a);"), only(&KernelHazards::DeviceHeap));
  EXPECT_EQ(hazardsOf(Call("free")), only(&KernelHazards::DeviceHeap));
  EXPECT_EQ(hazardsOf(Call("__assertfail")), only(&KernelHazards::Asserts));
  EXPECT_EQ(hazardsOf("call.uni (r), cudaLaunchDeviceV2, (a);"),
            only(&KernelHazards::DeviceLaunch));
  EXPECT_EQ(hazardsOf("call.uni (r), __cudaCDP2GetParameterBufferV2, (a);"),
            only(&KernelHazards::DeviceLaunch));
  EXPECT_EQ(hazardsOf("call.uni (r), cudaGetLastError;"), KernelHazards());
  EXPECT_EQ(hazardsOf("sust.b.2d.b32.trap [s, {%r1, %r2}], {%r3};"),
            only(&KernelHazards::SurfaceWrites));
  EXPECT_EQ(hazardsOf("sured.b.add.1d.u32.trap [s, {%r1}], %r3;"),
            only(&KernelHazards::SurfaceWrites));
  for (const char *System :
       {"atom.sys.add.u32 %r1, [%rd1], 1;", "fence.sc.sys;", "membar.sys;",
        "ld.acquire.sys.global.u32 %r1, [%rd1];", "@%p1 st.release.sys.global.u32 [%rd1], %r1;"})
    EXPECT_EQ(hazardsOf(System), only(&KernelHazards::SystemScope)) << System;
  EXPECT_EQ(hazardsOf("multimem.red.relaxed.gpu.global.add.u32 [%rd1], %r1;"),
            only(&KernelHazards::Multimem));
  EXPECT_EQ(hazardsOf("griddepcontrol.wait;"), only(&KernelHazards::Programmatic));
  EXPECT_EQ(hazardsOf("mov.u64 %rd1, shared_count;"), only(&KernelHazards::ManagedVariable));
  KernelHazards Opaque;
  Opaque.External = {"other"};
  EXPECT_EQ(hazardsOf(Call("other")), Opaque);
}

TEST(KernelHazards, constants_thatTheKernelMayRead_areNamed) {
  PtxModule Module =
      parsed(ptx(std::string(Declarations) +
                 ".const .align 4 .b8 named[16];\n"
                 ".const .align 8 .u64 table[2] = {generic(pointed), 0};\n"
                 ".const .align 4 .u32 pointed = 7;\n"
                 ".visible .const .align 8 .u64 host_address;\n"
                 ".func leaf() { mov.u64 %rd1, table; ret; }\n"
                 ".visible .entry k() { ld.const.u32 %r1, [named+4]; call.uni leaf;\n"
                 "ld.global.u32 %r2, [own_count]; ret; }\n"
                 ".visible .entry plain() { ret; }\n"));
  KernelHazards H;
  H.Constants = {"named", "pointed", "table"};
  EXPECT_EQ(llvm::cantFail(Module.kernelHazards("k")), H);
  EXPECT_EQ(llvm::cantFail(Module.kernelHazards("plain")), KernelHazards());
}

TEST(KernelHazards, hazards_ofReachedFunctionsOnly_areFound) {
  PtxModule Module = parsed(ptx(std::string(Declarations) +
                                ".func leaf() { call.uni (r), vprintf, (a, b); ret; }\n"
                                ".func middle() { call.uni leaf; ret; }\n"
                                ".visible .entry deep() { call.uni middle; ret; }\n"
                                ".visible .entry plain() { ret; }\n"));
  EXPECT_TRUE(llvm::cantFail(Module.kernelHazards("deep")).Printf);
  EXPECT_EQ(llvm::cantFail(Module.kernelHazards("plain")), KernelHazards());
  EXPECT_EQ(messageOf(Module.kernelHazards("none")), "PTX: no entry named none");
}

TEST(KernelHazards, commentsStringsAndLabels_areIgnored) {
  EXPECT_EQ(hazardsOf("// fence.sc.sys; call vprintf\n/* sust.b.1d */\n"
                      ".pragma \"membar.sys\";\nsust: ld.global.u32 %r1, [%rd1];"),
            KernelHazards());
}

TEST(KernelHazards, deviceHeap_declaredOnly_isUsed) {
  EXPECT_TRUE(withBody("").usesDeviceHeap());
  EXPECT_FALSE(parsed(ptx(".visible .entry k() { ret; }")).usesDeviceHeap());
  EXPECT_FALSE(parsed(ptx(".func malloc() { ret; }\n.visible .entry k() { ret; }"))
                   .usesDeviceHeap()); // The program defines a `malloc` of its own.
}

static bool spins(const std::string &Body) { return hazardsOf(Body).SpinWait; }

TEST(KernelHazards, waitingLoop_isFound) {
  EXPECT_TRUE(spins("$L1:\nld.volatile.global.u32 %r1, [%rd1];\nsetp.eq.s32 %p1, %r1, 0;\n"
                    "@%p1 bra $L1;"));
  EXPECT_TRUE(spins("$L1:\nld.acquire.gpu.u32 %r1, [%rd1+4];\nand.b32 %r2, %r1, 1;\n"
                    "setp.ne.s32 %p1, %r2, 0;\n@%p1 bra $L2;\nnanosleep.u32 40;\nbra.uni $L1;\n"
                    "$L2:"));
  EXPECT_TRUE(spins("$L1:\natom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.s32 %p1, %r1, 0;\n"
                    "@!%p1 bra $L2;\nbra $L1;\n$L2:"));
  EXPECT_TRUE(spins("$L1:\nmov.u32 %r1, 1;\nmov.u32 %r2, 0;\n"
                    "atom.global.cas.b32 %r3, [%rd2], %r2, %r1;\nsetp.ne.s32 %p1, %r3, 0;\n"
                    "@%p1 bra $L1;"));
}

TEST(KernelHazards, workingLoop_isNotAWaitingLoop) {
  // This compare-and-swap loop computes its new value.
  EXPECT_FALSE(spins("$L1:\nadd.f32 %f2, %f1, %f3;\natom.global.cas.b32 %r3, [%rd1], %r1, %r2;\n"
                     "setp.ne.s32 %p1, %r1, %r3;\nmov.u32 %r1, %r3;\n@%p1 bra $L1;"));
  // The address changes in each trip.
  EXPECT_FALSE(spins("$L1:\nld.volatile.global.u32 %r1, [%rd1];\nadd.s64 %rd1, %rd1, 4;\n"
                     "setp.eq.s32 %p1, %r1, 0;\n@%p1 bra $L1;"));
  // A counter ends the loop.
  EXPECT_FALSE(spins("$L1:\nld.volatile.global.u32 %r1, [%rd1];\nadd.s32 %r2, %r2, 1;\n"
                     "setp.lt.s32 %p1, %r2, %r3;\n@%p1 bra $L1;"));
  // In this order: the loop stores, calls, reads plainly, is in shared memory, or is a forward
  // branch.
  for (const char *Body :
       {"$L1:\nld.volatile.global.u32 %r1, [%rd1];\nst.global.u32 [%rd2], %r1;\n"
        "setp.eq.s32 %p1, %r1, 0;\n@%p1 bra $L1;",
        "$L1:\nld.volatile.global.u32 %r1, [%rd1];\ncall.uni free, (a);\n"
        "setp.eq.s32 %p1, %r1, 0;\n@%p1 bra $L1;",
        "$L1:\nld.global.u32 %r1, [%rd1];\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra $L1;",
        "$L1:\nld.volatile.shared.u32 %r1, [%r9];\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra $L1;",
        "ld.volatile.global.u32 %r1, [%rd1];\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra $L1;\n$L1:"})
    EXPECT_FALSE(spins(Body)) << Body;
}
