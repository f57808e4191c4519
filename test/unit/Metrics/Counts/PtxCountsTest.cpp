#include "Metrics/Counts/PtxCounts.h"
#include "Metrics/Counts/Counts.h"

#include <gtest/gtest.h>

using namespace carve;

static PtxModule module(const std::string &Statements) {
  return llvm::cantFail(
      PtxModule::parse(".version 9.0\n.target sm_90\n.address_size 64\n" + Statements));
}

static CountedKernel counted(const std::string &Body, const TripCounts &Trips = {},
                             unsigned ThreadsX = 256, const std::string &Before = "") {
  PtxModule M = module(Before + ".visible .entry k(.param .u64 k_param_0) {\n" + Body + "\n}\n");
  auto Result = countPtxKernel(M, "k", Trips, ThreadsX);
  if (Result)
    return std::move(*Result);
  ADD_FAILURE() << llvm::toString(Result.takeError());
  return {};
}

TEST(PtxCounts, straightCode_isCounted) {
  CountedKernel K = counted("ld.param.u64 %rd1, [k_param_0];\n"
                            "cvta.to.global.u64 %rd2, %rd1;\n"
                            "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd2];\n"
                            "ld.global.L1::no_allocate.f64 %fd1, [%rd2+16];\n"
                            "add.f32 %f5, %f1, %f2;\n"
                            "st.shared::cta.f32 [%r9], %f5;\n"
                            "bar.sync 0;\n"
                            "st.global.u8 [%rd2], %r3;\n"
                            "atom.global.add.u64 %rd5, [%rd2+8], 1;\n"
                            "st.local.v2.f64 [%rd7], {%fd1, %fd1};\n"
                            "ret;");
  EXPECT_EQ(K.Counts.Instructions, 9);
  EXPECT_EQ(K.Counts.GlobalLoads, 2);
  EXPECT_EQ(K.Counts.GlobalLoadBytes, 24);
  EXPECT_EQ(K.Counts.GlobalStores, 2);
  EXPECT_EQ(K.Counts.GlobalStoreBytes, 9);
  EXPECT_EQ(K.Counts.SharedAccesses, 1);
  EXPECT_EQ(K.Counts.LocalStoreBytes, 16);
  EXPECT_EQ(K.Counts.DeepestLocalAccess, 0u);
  // Two loads are waited for together, and there is a barrier. The kernel's ends add one region.
  EXPECT_EQ(K.Counts.Regions, 3);
  EXPECT_EQ(K.Counts.AssumedTrips, 0u);
}

/// Returns the body of a loop around one instruction.
static std::string loop(const std::string &Head, const std::string &Tail) {
  return Head + "\n$L1:\nfma.rn.f32 %f1, %f1, %f1, %f1;\n" + Tail + "\nret;";
}

static LoopCount onlyLoop(const std::string &Body, const TripCounts &Trips = {}) {
  CountedKernel K = counted(Body, Trips);
  if (K.Loops.size() == 1)
    return K.Loops[0];
  ADD_FAILURE() << K.Loops.size() << " loops";
  return {};
}

TEST(PtxCounts, loop_withConstantBounds_hasItsTrips) {
  const std::pair<std::string, double> Cases[] = {
      {loop("mov.b32 %r1, 0;", "add.s32 %r1, %r1, 1;\nsetp.ne.s32 %p1, %r1, 64;\n@%p1 bra $L1;"),
       64},
      {loop("mov.b32 %r1, 10;", "add.s32 %r1, %r1, 3;\nsetp.lt.s32 %p1, %r1, 64;\n@%p1 bra $L1;"),
       18},
      {loop("mov.b32 %r1, 9;", "add.s32 %r1, %r1, -1;\nsetp.eq.s32 %p1, %r1, 0;\n@!%p1 bra $L1;"),
       9},
      {loop("mov.b32 %r1, 9;", "sub.s32 %r1, %r1, 2;\nsetp.gt.s32 %p1, 0, %r1;\n@!%p1 bra $L1;"),
       5},
      // The value before the step is compared, and the step goes through another register.
      {loop("mov.b32 %r1, 0;", "add.s32 %r2, %r1, 4;\nsetp.lt.u32 %p1, %r1, 60;\n"
                               "mov.u32 %r1, %r2;\n@%p1 bra $L1;"),
       16},
      // With unsigned values it starts at the maximum.
      {loop("mov.b32 %r1, -4;", "add.s32 %r1, %r1, 1;\nsetp.hi.u32 %p1, %r1, 4294967290;\n"
                                "@%p1 bra $L1;"),
       4},
      {loop("mov.u64 %rd1, 0;", "add.s64 %rd1, %rd1, 8;\nsetp.ne.s64 %p1, %rd1, 256;\n"
                                "@%p1 bra $L1;"),
       32},
  };
  for (const auto &[Body, Trips] : Cases) {
    LoopCount L = onlyLoop(Body);
    EXPECT_EQ(L.Trips, Trips) << Body;
    EXPECT_EQ(L.Source, TripSource::Constant) << Body;
  }
  CountedKernel K = counted(Cases[0].first);
  EXPECT_EQ(K.Counts.Instructions, 1 + 64 * 4 + 1);
}

TEST(PtxCounts, loop_withUnknownBounds_isAssumed) {
  const std::string Cases[] = {
      // In this order: the bound is a parameter; the start is loaded; the step varies; there is no
      // end.
      loop("mov.b32 %r1, 0;", "add.s32 %r1, %r1, 1;\nsetp.ne.s32 %p1, %r1, %r7;\n@%p1 bra $L1;"),
      loop("ld.global.u32 %r1, [%rd1];",
           "add.s32 %r1, %r1, 1;\nsetp.ne.s32 %p1, %r1, 64;\n@%p1 bra $L1;"),
      loop("mov.b32 %r1, 1;", "shl.b32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 64;\n@%p1 bra $L1;"),
      loop("mov.b32 %r1, 0;", "add.s32 %r1, %r1, 2;\nsetp.ne.s32 %p1, %r1, 65;\n@%p1 bra $L1;"),
      // There are two ways to step.
      loop("mov.b32 %r1, 0;", "@%p2 add.s32 %r1, %r1, 1;\nadd.s32 %r1, %r1, 1;\n"
                              "setp.lt.s32 %p1, %r1, 64;\n@%p1 bra $L1;"),
      loop("mov.f32 %f9, 0f00000000;", "add.f32 %f9, %f9, %f8;\nsetp.lt.f32 %p1, %f9, %f7;\n"
                                       "@%p1 bra $L1;"),
  };
  TripCounts Trips;
  Trips.Assumed = 7;
  for (const std::string &Body : Cases) {
    LoopCount L = onlyLoop(Body, Trips);
    EXPECT_EQ(L.Trips, 7) << Body;
    EXPECT_EQ(L.Source, TripSource::Assumed) << Body;
    EXPECT_EQ(counted(Body, Trips).Counts.AssumedTrips, 1u);
  }
}

TEST(PtxCounts, loop_sharedByThreads_startsAtTheThread) {
  // The code is `for (I = threadIdx.y * 16 + threadIdx.x; I < 2048; I += 256)`.
  LoopCount L = onlyLoop(loop("mov.u32 %r2, %tid.x;\nmov.u32 %r3, %tid.y;\n"
                              "mad.lo.s32 %r1, %r3, 16, %r2;",
                              "add.s32 %r1, %r1, 256;\nsetp.lt.s32 %p1, %r1, 2048;\n"
                              "@%p1 bra $L1;"));
  EXPECT_EQ(L.Trips, 8);
  EXPECT_EQ(L.Source, TripSource::FromThread);
  L = onlyLoop(loop("mov.u32 %r2, %tid.x;\nadd.s32 %r1, %r2, -1024;",
                    "add.s32 %r1, %r1, 256;\nsetp.lt.s32 %p1, %r1, 0;\n@%p1 bra $L1;"));
  EXPECT_EQ(L.Trips, 4);
  L = onlyLoop(loop("mov.u32 %r1, %ctaid.x;",
                    "add.s32 %r1, %r1, 256;\nsetp.lt.s32 %p1, %r1, 2048;\n@%p1 bra $L1;"));
  EXPECT_EQ(L.Source, TripSource::Assumed) << "the index of a block is not taken as 0";
}

TEST(PtxCounts, loop_withVeryManyWaysToIt_isAssumed) {
  // Each register is set in three places, each of which reads the one before: 3^16 chains.
  for (const char *First : {"mov.u32 %r1, %tid.x;\n", "mov.u32 %r1, 0;\n"}) {
    std::string Head = First;
    for (unsigned R = 1; R < 16; ++R)
      for (unsigned Way = 0; Way < 3; ++Way)
        Head += "mov.u32 %r" + std::to_string(R + 1) + ", %r" + std::to_string(R) + ";\n";
    LoopCount L = onlyLoop(loop(Head, "add.s32 %r16, %r16, 1;\nsetp.lt.s32 %p1, %r16, 64;\n"
                                      "@%p1 bra $L1;"));
    EXPECT_EQ(L.Source, TripSource::Assumed) << First;
  }
}

TEST(PtxCounts, unrolledLoop_andItsRest_areRecognised) {
  LoopCount Main = onlyLoop(loop("and.b32 %r2, %r9, 2147483644;\nneg.s32 %r1, %r2;",
                                 "add.s32 %r1, %r1, 4;\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra $L1;"));
  EXPECT_EQ(Main.Trips, 4);
  EXPECT_EQ(Main.Source, TripSource::Unrolled);
  Main = onlyLoop(loop("and.b32 %r2, %r9, 3;\nsub.s32 %r1, %r9, %r2;",
                       "add.s32 %r1, %r1, -4;\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra $L1;"));
  EXPECT_EQ(Main.Trips, 4);
  EXPECT_EQ(Main.Source, TripSource::Unrolled);
  LoopCount Rest = onlyLoop(loop("and.b32 %r2, %r9, 3;\nneg.s32 %r1, %r2;",
                                 "add.s32 %r1, %r1, 1;\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra $L1;"));
  EXPECT_EQ(Rest.Trips, 2);
  EXPECT_EQ(Rest.Source, TripSource::Remainder);
}

TEST(PtxCounts, annotations_setTrips) {
  std::string Body = "mov.b32 %r1, 0;\n$L1:\n.loc 1 12 3\nadd.s32 %r1, %r1, 1;\n"
                     ".loc 1 10 3, function_name $L__info_string0, inlined_at 1 83 5\n"
                     "setp.ne.s32 %p1, %r1, 64;\n@%p1 bra $L1;\nret;";
  EXPECT_EQ(onlyLoop(Body).Line, 10u);
  TripCounts Trips;
  Trips.ByLine[10] = 5;
  EXPECT_EQ(onlyLoop(Body, Trips).Trips, 5);
  EXPECT_EQ(onlyLoop(Body, Trips).Source, TripSource::Annotated);
  Trips.ByNumber[1] = 2.5;
  EXPECT_EQ(onlyLoop(Body, Trips).Trips, 2.5);
}

TEST(PtxCounts, loop_thatPrefetches_waitsInTheNextTrip) {
  // The load of one trip is used in the next one.
  CountedKernel K = counted("mov.b32 %r1, 0;\n$L1:\nadd.f32 %f2, %f2, %f1;\n"
                            "ld.global.f32 %f1, [%rd1];\nadd.s32 %r1, %r1, 1;\n"
                            "setp.ne.s32 %p1, %r1, 10;\n@%p1 bra $L1;\nret;");
  EXPECT_EQ(K.Counts.Regions, 11);
  EXPECT_EQ(K.Counts.GlobalLoadBytes, 40);
}

TEST(PtxCounts, localMemory_isCountedByLoopDepth) {
  CountedKernel K = counted("st.local.u32 [%rd1], %r9;\nmov.b32 %r1, 0;\n$L1:\n"
                            "ld.local.f64 %fd1, [%rd1];\nadd.s32 %r1, %r1, 1;\n"
                            "setp.ne.s32 %p1, %r1, 10;\n@%p1 bra $L1;\nret;");
  EXPECT_EQ(K.LocalBytesByDepth, (std::vector<double>{4, 80}));
  EXPECT_EQ(K.Counts.DeepestLocalAccess, 1u);
  EXPECT_EQ(K.Counts.LocalLoadBytes, 80);
}

TEST(PtxCounts, callees_countWhereTheyAreCalled) {
  const std::string Functions =
      ".func leaf(.param .b32 a) { bar.sync 0; ld.local.u32 %r1, [%rd1]; ret; }\n"
      ".func again(.param .b32 a) { call.uni again, (a); call.uni leaf, (a); ret; }\n";
  CountedKernel K = counted("mov.b32 %r1, 0;\n$L1:\ncall.uni (r), leaf, (a);\n"
                            "add.s32 %r1, %r1, 1;\nsetp.ne.s32 %p1, %r1, 10;\n@%p1 bra $L1;\n"
                            "call.uni again, (a);\nret;",
                            {}, 256, Functions);
  // The loop has 4 instructions and the leaf's 3. `again` counts once, with its call of itself as
  // one instruction.
  EXPECT_EQ(K.Counts.Instructions, 1 + 10 * (4 + 3) + 1 + (3 + 3) + 1);
  EXPECT_EQ(K.Counts.Regions, 12);
  EXPECT_EQ(K.Counts.LocalLoadBytes, 44);
  EXPECT_EQ(K.Counts.DeepestLocalAccess, 1u);
}

/// Returns the coalesced share of an access at %rd9, which \p Code computes.
static std::optional<double> share(const std::string &Code, unsigned ThreadsX = 256) {
  return counted(Code + "\nld.global.f32 %f1, [%rd9+64];\nret;", {}, ThreadsX)
      .Counts.CoalescedShare;
}

TEST(PtxCounts, access_byItsStride_isCoalescedOrNot) {
  const std::string Head = "ld.param.u64 %rd1, [k_param_0];\nmov.u32 %r1, %tid.x;\n"
                           "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.y;\n";
  auto At = [&](const std::string &Index, const std::string &Scale = "4") {
    return Head + Index + "\nmul.wide.s32 %rd8, %r9, " + Scale + ";\nadd.s64 %rd9, %rd1, %rd8;";
  };
  EXPECT_EQ(share(At("mad.lo.s32 %r9, %r2, %r3, %r1;")), 1.0);
  EXPECT_EQ(share(At("shl.b32 %r9, %r1, 1;")), 0.0);
  EXPECT_EQ(share(At("mov.u32 %r9, %r1;", "8")), 0.0);
  EXPECT_EQ(share(At("sub.s32 %r9, %r2, %r1;")), 1.0) << "neighbours in reverse order";
  EXPECT_EQ(share(At("mad.lo.s32 %r9, %r1, 256, %r4;")), 0.0) << "a column";
  EXPECT_EQ(share(At("add.s32 %r9, %r4, %r2;")), 1.0) << "one address for all";
  EXPECT_EQ(share(At("mul.lo.s32 %r9, %r1, %r1;")), std::nullopt);
  EXPECT_EQ(share(At("ld.global.u32 %r9, [%rd1];")), 1.0)
      << "a uniform address gives a uniform value";
  EXPECT_EQ(share(At("mad.lo.s32 %r9, %r4, %r3, %r1;"), 16), 1.0) << "half a warp fills sectors";
  EXPECT_EQ(share(At("mad.lo.s32 %r9, %r4, %r3, %r1;"), 4), 0.0);
  // The loop's variable grows by a block.
  EXPECT_EQ(share(Head + "mov.u32 %r9, %r1;\n$L1:\nmul.wide.s32 %rd8, %r9, 4;\n"
                         "add.s64 %rd9, %rd1, %rd8;\nadd.s32 %r8, %r9, %r3;\nmov.u32 %r9, %r8;\n"
                         "setp.lt.s32 %p1, %r9, %r7;\n@%p1 bra $L1;"),
            1.0);
  EXPECT_EQ(share(Head + "mov.u32 %r9, %r1;\n$L1:\nmul.wide.s32 %rd8, %r9, 4;\n"
                         "add.s64 %rd9, %rd1, %rd8;\nadd.s32 %r8, %r9, %r1;\nmov.u32 %r9, %r8;\n"
                         "setp.lt.s32 %p1, %r9, %r7;\n@%p1 bra $L1;"),
            std::nullopt);
}

TEST(PtxCounts, addresses_thatDependOnEachOther_endTheSearch) {
  // Each register is the sum of the two before it, and the start values are not set anywhere.
  std::string Body = "$L1:\n";
  for (unsigned I = 2; I < 60; ++I)
    Body += "add.s64 %rd" + std::to_string(I) + ", %rd" + std::to_string(I - 1) + ", %rd" +
            std::to_string(I - 2) + ";\n";
  Body += "mov.u64 %rd0, %rd59;\nmov.u64 %rd1, %rd58;\nld.global.u32 %r1, [%rd59];\n"
          "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra $L1;\nret;";
  CountedKernel K = counted(Body);
  EXPECT_EQ(K.Counts.GlobalLoads, 16);
  EXPECT_EQ(K.Counts.CoalescedShare, std::nullopt);
}

TEST(PtxCounts, unknownEntryOrBrokenBody_fails) {
  PtxModule M = module(".visible .entry k() { bra $L9; }\n");
  auto Message = [](auto Result) { return Result ? "" : llvm::toString(Result.takeError()); };
  EXPECT_EQ(Message(countPtx(M, "none", {}, 32)), "PTX: no entry named none");
  EXPECT_EQ(Message(countPtx(M, "k", {}, 32)),
            "PTX: a branch to $L9, which is not a label of its function");
}

/// A loop ran 40 times for each of 100 threads, and half of these threads skip an instruction in
/// it.
TEST(PtxCounts, countedRuns_takePrecedence) {
  const std::string Body = "mov.b32 %r1, 0;\n$L1:\nadd.s32 %r1, %r1, 1;\n@%p2 bra $L2;\n"
                           "ld.global.u32 %r3, [%rd1];\n$L2:\nsetp.ne.s32 %p1, %r1, 64;\n"
                           "@%p1 bra $L1;\nret;";
  TripCounts Trips;
  Trips.ByNumber[1] = 7;
  Trips.Runs["k"] = {{100, 4000, 2000, 4000, 100, 0}, {0, 0, 0, 100, 0, 0}};
  CountedKernel K = counted(Body, Trips);
  ASSERT_EQ(K.Loops.size(), 1u);
  EXPECT_EQ(K.Loops[0].Trips, 40);
  EXPECT_EQ(K.Loops[0].Source, TripSource::Counted);
  EXPECT_EQ(tripSourceName(K.Loops[0].Source), "counted");
  EXPECT_EQ(K.Counts.Instructions, 1 + 40 * 4 + 20 + 1);
  EXPECT_EQ(K.Counts.GlobalLoads, 20);
  EXPECT_EQ(K.Counts.AssumedTrips, 0u);
}
