#include "Metrics/Counts/CodeCounts.h"
#include "Metrics/Counts/Counts.h"
#include "Metrics/Counts/PtxCounts.h"

#include "Support/Files.h"

#include <gtest/gtest.h>

using namespace carve;

namespace {

std::string recorded(const std::string &Name) {
  return llvm::cantFail(readFile(CARVE_TEST_INPUTS "/ptx/" + Name));
}

CountedKernel counted(const std::string &Name, const std::string &Kernel,
                      const TripCounts &Trips = {}) {
  auto Result = countCodeKernel(recorded(Name), Kernel, Trips);
  if (Result)
    return std::move(*Result);
  ADD_FAILURE() << llvm::toString(Result.takeError());
  return {};
}

constexpr const char *Images[] = {"kernels.sm_75.cuda-13.0.88.cubin",
                                  "kernels.sm_90.cuda-13.0.88.cubin",
                                  "kernels.sm_100.cuda-13.0.88.cubin"};

} // namespace

// The numbers were read in nvdisasm's listing of these files.
TEST(CodeCounts, straightCode_isCounted) {
  for (const char *Image : Images) {
    KernelCounts C = counted(Image, "_Z2avPf").Counts;
    EXPECT_EQ(C.GlobalLoads, 1) << Image;
    EXPECT_EQ(C.GlobalLoadBytes, 4) << Image;
    EXPECT_EQ(C.GlobalStoreBytes, 4) << Image;
    EXPECT_EQ(C.SharedAccesses, 2) << Image;
    EXPECT_EQ(C.LocalLoadBytes + C.LocalStoreBytes, 0) << Image;
    // The regions end at the load, at the barrier, and at the end of the kernel.
    EXPECT_EQ(C.Regions, 3) << Image;
  }
  // The padding loop and the no-operations after the end do not count.
  EXPECT_EQ(counted(Images[0], "_Z2avPf").Counts.Instructions, 12);
}

TEST(CodeCounts, unrolledLoops_haveTripsOfThePtx) {
  for (const char *Image : Images) {
    CountedKernel K = counted(Image, "_Z5bulkyPdi");
    EXPECT_EQ(K.Counts.GlobalLoadBytes, 24 * 8) << Image;
    EXPECT_EQ(K.Counts.GlobalStoreBytes, 24 * 8) << Image;
    // For sm_100 ptxas does what unrolling leaves over without a loop.
    ASSERT_EQ(K.Loops.size(), Image == Images[2] ? 1u : 2u) << Image;
    EXPECT_EQ(K.Counts.AssumedTrips, K.Loops.size()) << Image;
    EXPECT_GE(K.Loops[0].OwnInstructions, 4u * 24) << Image;

    // cicc unrolled the loop, and the PTX shows that.
    PtxModule M = llvm::cantFail(PtxModule::parse(recorded("kernels.cuda-13.0.88.ptx")));
    TripCounts Trips;
    Trips.Assumed = 400;
    CountedKernel Ptx = llvm::cantFail(countPtxKernel(M, "_Z5bulkyPdi", Trips, 256));
    ASSERT_EQ(Ptx.Loops.size(), 2u);
    EXPECT_EQ(Ptx.Loops[0].Source, TripSource::Unrolled);
    EXPECT_EQ(Ptx.Loops[1].Source, TripSource::Remainder);
    Trips.OfPtx = Ptx.Loops;
    CountedKernel Code = counted(Image, "_Z5bulkyPdi", Trips);
    EXPECT_EQ(Code.Loops[0].Trips, 100) << Image;
    if (Code.Loops.size() > 1) {
      EXPECT_EQ(Code.Loops[1].Trips, 2) << Image;
    }
    EXPECT_EQ(Code.Loops[0].Source, TripSource::Unrolled) << Image;
    EXPECT_NEAR(Code.Counts.Instructions / Ptx.Counts.Instructions, 1, 0.1) << Image;
  }
}

// The way to the loop that does the rest is the shorter one, so by the rules for branches alone
// nothing enters the unrolled loop. Rests without a loop count as half.
TEST(CodeCounts, unrolledLoopsAfterGuards_doTheTripsOfThePtx) {
  PtxModule M = llvm::cantFail(PtxModule::parse(recorded("rests.cuda-13.0.88.ptx")));
  for (double N : {1., 3., 100., 16383.}) {
    TripCounts Trips;
    Trips.ByNumber = {{1, N}, {2, 3}};
    CountedKernel Ptx = llvm::cantFail(countPtxKernel(M, "_Z3sumPfi", Trips, 1));
    Trips.OfPtx = Ptx.Loops;
    CountedKernel Code = counted("rests.sm_90.cuda-13.0.88.cubin", "_Z3sumPfi", Trips);
    ASSERT_EQ(Code.Loops.size(), 3u);
    EXPECT_EQ(4 * Code.Loops[0].Trips + Code.Loops[1].Trips, N);
    EXPECT_EQ(Code.Loops[2].Trips, 3);
    EXPECT_GE(Code.Counts.GlobalLoads, Ptx.Counts.GlobalLoads);
    EXPECT_LE(Code.Counts.GlobalLoads, Ptx.Counts.GlobalLoads + 4) << N << " trips";
    EXPECT_LE(Code.Counts.GlobalStores, Ptx.Counts.GlobalStores + 1);
  }
}

// The counts of a run reach the machine code, too. Here one thread of ten has something to sum.
TEST(CodeCounts, countedRuns_reachTheMachineCode) {
  PtxModule M = llvm::cantFail(PtxModule::parse(recorded("rests.cuda-13.0.88.ptx")));
  TripCounts Trips;
  // The blocks are in their order: each loop is one block, and the last block is after the return.
  Trips.Runs["_Z3sumPfi"] = {{1000, 100, 100, 40000, 100, 50, 150, 1000, 0},
                             {0, 0, 0, 100, 0, 0, 50, 0, 0}};
  CountedKernel Ptx = llvm::cantFail(countPtxKernel(M, "_Z3sumPfi", Trips, 1));
  ASSERT_EQ(Ptx.Loops.size(), 2u);
  EXPECT_EQ(Ptx.Loops[0].PerRun, 40);
  EXPECT_EQ(Ptx.Loops[1].Trips, 3);
  Trips.OfPtx = Ptx.Loops;
  CountedKernel Code = counted("rests.sm_90.cuda-13.0.88.cubin", "_Z3sumPfi", Trips);
  EXPECT_EQ(Code.Loops[0].PerRun, 10);
  EXPECT_NEAR(Code.Counts.GlobalLoads / Ptx.Counts.GlobalLoads, 1, 0.05);
}

TEST(CodeCounts, calleeInTheSection_countsAtItsCall) {
  // The callee's load of a variable counts where it is called.
  EXPECT_EQ(counted(Images[0], "x_Z2avPf").Counts.GlobalLoads, 2);
  // A recursive function counts once.
  KernelCounts C = counted(Images[0], "_Z9recursivePi").Counts;
  EXPECT_GE(C.LocalStoreBytes, 40);
  EXPECT_EQ(C.GlobalLoads, 2);
}

TEST(CodeCounts, calleeOfARelocatableImage_isCounted) {
  KernelCounts C = counted("kernels.rdc.sm_80.cuda-13.0.88.cubin", "x_Z2avPf").Counts;
  EXPECT_GT(C.GlobalLoads, 1) << "the callee has a section of its own";
}

TEST(CodeCounts, brokenOrUnknownCode_fails) {
  auto Message = [](auto Result) { return Result ? "" : llvm::toString(Result.takeError()); };
  std::string Bytes = recorded(Images[0]);
  EXPECT_EQ(Message(countCode(Bytes, "none", {})), "cubin: no code of none");
  EXPECT_EQ(Message(countCode("text", "k", {})), "cubin: not an ELF file");
  // The architecture is in the flags.
  std::string Old = Bytes;
  Old[0x31] = 70;
  EXPECT_EQ(Message(countCode(Old, "_Z2avPf", {})),
            "machine-code: the machine code of sm_70 is not known, expected sm_75 or one of its "
            "successors up to sm_121");
  // If it is read as code of sm_90, its branches lead nowhere.
  std::string Wrong = Bytes;
  Wrong[0x31] = 90;
  EXPECT_NE(Message(countCode(Wrong, "_Z5bulkyPdi", {})).find("a branch at"), std::string::npos);
}
