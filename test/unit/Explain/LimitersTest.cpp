#include "LimitsTesting.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

namespace {

KernelLimit limitOf(const KernelEvidence &E) { return findLimit(E, h200(), busyProgram()); }

std::string text(const KernelLimit &L) {
  std::string Text = L.Kind ? limitName(*L.Kind).str() : "unknown";
  return Text + (L.Resource.empty() ? "" : ", " + L.Resource);
}

/// Returns what limits \p X if its busiest resource is busy for most of the time.
std::string limitAt(const ExampleLaunch &X, double Share = 0.85) {
  KernelEvidence E = counted(X);
  timeAt(E, Share);
  return text(limitOf(E));
}

KernelCounters counters(double Dram, double L2, double L1, double Shared, double Issue, double Pipe,
                        std::string Name) {
  KernelCounters C;
  C.Launches = 2;
  C.DramShare = Dram;
  C.L2Share = L2;
  C.L1Share = L1;
  C.SharedShare = Shared;
  C.IssueShare = Issue;
  C.PipeShare = Pipe;
  C.Pipe = std::move(Name);
  return C;
}

std::string limitBy(const KernelCounters &C) {
  KernelEvidence E;
  E.MeanNs = 1e6;
  E.Counters = C;
  KernelLimit L = limitOf(E);
  EXPECT_EQ(L.Sure, Certainty::Measured);
  EXPECT_EQ(L.Basis, LimitBasis::Counters);
  return text(L);
}

const ExampleLaunch Copy{"copy", "_Z4copyPK4int4PS_", 65536, 256};
const ExampleLaunch Gather{"gather", "_Z6gatherPKiS0_Pi", 32768, 256};
const ExampleLaunch Chase{"chase", "_Z5chasePKjPji", 128, 32, 22, 0, {{1, 250}}};
const ExampleLaunch Narrow{"narrow", "_Z6narrowPji", 4, 128, 10, 0, {{1, 32768}}};
const ExampleLaunch Spill{"spill", "_Z5spillPKiPii", 1024, 256, 32, 0, {{1, 256}}};
const ExampleLaunch Tiny{"tiny", "_Z4tinyPj", 16, 256, 8};

} // namespace

TEST(Limiters, balance_ofAnH200_agreesWithItsDataSheet) {
  DeviceBalance B = h200();
  EXPECT_NEAR(B.DramBytes, 4.9e12, 0.05e12) << "the data sheet says 4.8 TB/s";
  EXPECT_NEAR(B.issueSlots(), 132 * 4 * 1.98e9, 1);
  EXPECT_NEAR(B.instructionsPerByte(), 6.8, 0.05);
  EXPECT_NEAR(B.bytesInFlightPerSm() / 1024, 8.8, 0.1);
}

TEST(Limiters, examplePrograms_withCountsAndTime_haveTheirKnownLimiters) {
  EXPECT_EQ(limitAt(Copy), "memory, DRAM bandwidth");
  EXPECT_EQ(limitAt({"fma", "_Z3fmaPfi", 8192, 256, 22, 0, {{1, 256}}}),
            "instructions, instruction issue");
  EXPECT_EQ(limitAt({"fp64", "_Z4fp64Pdi", 4096, 256, 16, 0, {{1, 256}}}),
            "instructions, the fp64 pipe");
  EXPECT_EQ(limitAt({"special", "_Z7specialPfi", 4096, 256, 18, 0, {{1, 128}}}),
            "instructions, the xu pipe");
  EXPECT_EQ(limitAt({"shared", "_Z6sharedPjii", 2048, 256, 31, 32768, {{3, 64}, {4, 8}}}),
            "shared-memory, shared memory");
  EXPECT_EQ(limitAt(Spill), "local-memory, L1 cache throughput");
}

TEST(Limiters, certainty_withAssumedTrips_isAGuess) {
  KernelEvidence E = counted(Copy);
  EXPECT_EQ(timeAt(E, 0.9), "DRAM bandwidth");
  EXPECT_TRUE(E.TripsKnown) << "it has no loop";
  KernelLimit L = limitOf(E);
  EXPECT_EQ(L.Sure, Certainty::Derived);
  EXPECT_NEAR(L.Share, 0.9, 1e-9);
  E.TripsKnown = false;
  EXPECT_EQ(limitOf(E).Sure, Certainty::Guessed);
  E.Counts.reset();
  E.CountsReason = "in-no-unit";
  L = limitOf(E);
  EXPECT_FALSE(L.Kind);
  EXPECT_EQ(L.Why, "in-no-unit");
}

TEST(Limiters, nothingNearItsPeak_isLatency) {
  // It makes 1000 dependent loads of 700 ns.
  KernelEvidence E = counted(Chase);
  E.MeanNs = 700e3;
  KernelLimit L = limitOf(E);
  EXPECT_EQ(text(L), "latency");
  EXPECT_LT(L.Share, 0.1);
  // It makes 2^18 dependent multiply-adds of 4 cycles, on 4 of 132 SMs.
  E = counted(Narrow);
  E.MeanNs = 530e3;
  EXPECT_EQ(text(limitOf(E)), "latency");
  // The same code on all SMs.
  E.Shape.Grid[0] = 132 * 16;
  EXPECT_EQ(limitOf(E).Kind, Limit::Instructions);
}

TEST(Limiters, scatteredAddresses_mayBeLimitedByMemory) {
  // It moves 40 bytes for 12: an index, a sector, a result.
  KernelEvidence E = counted(Gather);
  EXPECT_EQ(E.Counts->LeastMovedBytes, 12);
  EXPECT_EQ(E.Counts->MostMovedBytes, 40);
  E.MeanNs = 32768. * 256 * 40 / 4.2e12 * 1e9;
  KernelLimit L = limitOf(E);
  EXPECT_EQ(text(L), "memory, DRAM bandwidth");
  EXPECT_EQ(L.Sure, Certainty::Guessed);
  EXPECT_NE(L.Why.find("if scattered"), std::string::npos);
  // Few warps cannot have asked for so much, so they wait.
  KernelEvidence Few = E;
  Few.Shape.Block = {32, 1, 1};
  Few.Shape.Grid = {264, 1, 1};
  Few.MeanNs = 264. * 32 * 40 / 4.2e12 * 1e9;
  EXPECT_EQ(limitOf(Few).Kind, Limit::Latency);
  Few.Modified = ModifiedTimes{Few.MeanNs, 1.05 * Few.MeanNs, 0.1 * Few.MeanNs, ""};
  EXPECT_EQ(limitOf(Few).Kind, Limit::Memory);
  // A version with another order of loads shows nothing about the kernel.
  Few.Modified->MemoryNs = 1.43 * Few.MeanNs;
  EXPECT_EQ(limitOf(Few).Kind, Limit::Latency);
  // It is as slow without its memory traffic, so it does not wait for that.
  E.Modified = ModifiedTimes{E.MeanNs, 0.3 * E.MeanNs, 0.9 * E.MeanNs, ""};
  EXPECT_EQ(limitOf(E).Kind, Limit::Latency);
}

TEST(Limiters, modifiedTimes_tellCachesFromMemory) {
  KernelEvidence E = counted(Copy);
  E.Counts->Instructions = 400; // As if a cache serves what it loads.
  timeAt(E, 0.8);
  ASSERT_EQ(limitOf(E).Kind, Limit::Instructions);
  E.Counts->Instructions = 180;
  timeAt(E, 0.8);
  ASSERT_EQ(limitOf(E).Kind, Limit::Memory);
  E.Modified = ModifiedTimes{E.MeanNs, 0.4 * E.MeanNs, 0.95 * E.MeanNs, ""};
  EXPECT_EQ(limitOf(E).Kind, Limit::Instructions) << "issue is at 66 %";
  E.Modified = ModifiedTimes{E.MeanNs, 0.9 * E.MeanNs, 0.5 * E.MeanNs, ""};
  EXPECT_EQ(limitOf(E).Kind, Limit::Memory);
}

TEST(Limiters, bytesBeyondAPeak_comeFromACloserCache) {
  KernelEvidence E = counted(Copy);
  E.MeanNs = 65536. * 256 * 32 / 7e12 * 1e9; // 7 TB/s
  EXPECT_EQ(text(limitOf(E)), "memory, L2 cache throughput");
  E.MeanNs /= 3;
  EXPECT_EQ(text(limitOf(E)), "memory, L1 cache throughput");
}

TEST(Limiters, counters_nameTheBusiestResource) {
  EXPECT_EQ(limitBy(counters(.91, .5, .3, 0, .05, .03, "alu")), "memory, DRAM bandwidth");
  EXPECT_EQ(limitBy(counters(.2, .78, .5, 0, .1, .03, "alu")), "memory, L2 cache throughput");
  // A copy keeps the halves of L2 busier than DRAM.
  EXPECT_EQ(limitBy(counters(.88, .93, .3, 0, .05, .03, "alu")), "memory, DRAM bandwidth");
  EXPECT_EQ(limitBy(counters(.52, .93, .3, 0, .05, .03, "alu")), "memory, L2 cache throughput");
  EXPECT_EQ(limitBy(counters(.55, .61, .3, 0, .05, .03, "alu")), "memory, L2 cache throughput");
  EXPECT_EQ(limitBy(counters(.46, .5, .3, 0, .05, .03, "alu")), "latency");
  EXPECT_EQ(limitBy(counters(.01, .01, .02, 0, .98, .97, "fma")),
            "instructions, instruction issue");
  EXPECT_EQ(limitBy(counters(.01, .01, .02, 0, .5, .97, "fp64")), "instructions, the fp64 pipe");
  // What shared memory does also shows in the L1 cache's share, which is a little larger.
  EXPECT_EQ(limitBy(counters(.02, .02, .97, .95, .1, .1, "alu")), "shared-memory, shared memory");
  EXPECT_EQ(limitBy(counters(.3, .4, .97, .2, .1, .1, "alu")), "memory, L1 cache throughput");
  EXPECT_EQ(limitBy(counters(.59, .3, .2, 0, .4, .3, "fma")), "latency");
  EXPECT_EQ(limitBy(counters(.01, .01, .01, 0, .02, .02, "fma")), "latency");
}

TEST(Limiters, busyL2_namesItsBusiestPart) {
  KernelEvidence E;
  E.MeanNs = 1e6;
  E.Counters = counters(.46, .5, .3, 0, .05, .03, "alu");
  E.Counters->L2Part = "traffic between its halves";
  EXPECT_EQ(limitOf(E).Why, "nothing is busy: L2 cache throughput, the busiest, is at 50 %");
  E.Counters->L2Share = 0.8;
  EXPECT_EQ(limitOf(E).Why, "traffic between its halves");
}

TEST(Limiters, countersAndCounts_countersDecide) {
  KernelEvidence E = counted(Copy);
  timeAt(E, 0.9);
  E.Counters = counters(.2, .3, .3, 0, .9, .5, "alu");
  EXPECT_EQ(limitOf(E).Kind, Limit::Instructions);
  E.Counters = KernelCounters(); // Nothing could be counted.
  KernelLimit L = limitOf(E);
  EXPECT_EQ(L.Kind, Limit::Memory);
  EXPECT_EQ(L.Basis, LimitBasis::Counts);
}

TEST(Limiters, spillingKernel_withCounters_isLimitedByLocalMemory) {
  KernelEvidence E = counted(Spill);
  E.MeanNs = 1e6;
  E.Counters = counters(.4, .7, .9, 0, .5, .3, "alu");
  EXPECT_EQ(limitOf(E).Kind, Limit::LocalMemory);
  E.Counters = counters(.3, .4, .5, 0, .4, .3, "alu");
  EXPECT_EQ(limitOf(E).Kind, Limit::LocalMemory) << "it waits for its spills";
  E.Counters = counters(.3, .4, .5, 0, .9, .3, "alu");
  EXPECT_EQ(limitOf(E).Kind, Limit::Instructions);
  // DRAM moves only what the kernel itself reads and writes, so the spills stay in the caches.
  E.Counters = counters(.9, .4, .5, 0, .4, .3, "alu");
  E.Counters->DramBytes = E.Counts->globalBytesMoved() * 32 * E.warps();
  EXPECT_EQ(limitOf(E).Kind, Limit::Memory);
  E.Counters->DramBytes = 3 * *E.Counters->DramBytes;
  EXPECT_EQ(limitOf(E).Kind, Limit::LocalMemory);
  // Without counts of the code, the counters alone decide.
  E.Counts.reset();
  E.Counters->Instructions = 1e6;
  E.Counters->LocalInstructions = 3e5;
  EXPECT_EQ(limitOf(E).Kind, Limit::LocalMemory);
  E.Counters->LocalInstructions = 1e4;
  EXPECT_EQ(limitOf(E).Kind, Limit::Memory);
}

TEST(Limiters, shortKernelsWithGaps_areLimitedByLaunches) {
  KernelEvidence E = counted(Tiny);
  E.MeanNs = 1800;
  ProgramFacts P{100e6, 40e6, 20000}; // One launch in 5 us.
  KernelLimit L = findLimit(E, h200(), P);
  EXPECT_EQ(L.Kind, Limit::Launch);
  EXPECT_NEAR(L.Share, 0.4, 1e-9);
  EXPECT_EQ(L.Basis, LimitBasis::Timing);
  // Counters say nothing about gaps.
  E.Counters = counters(.01, .01, .01, 0, .02, .02, "alu");
  EXPECT_EQ(findLimit(E, h200(), P).Kind, Limit::Launch);
  E.Counters.reset();
  // The host does something else between two launches.
  P = {1000e6, 40e6, 200};
  EXPECT_EQ(findLimit(E, h200(), P).Kind, Limit::Latency);
  // There are no gaps.
  P = {40e6, 38e6, 20000};
  EXPECT_EQ(findLimit(E, h200(), P).Kind, Limit::Latency);
  // This is a long kernel among short ones.
  E.MeanNs = 200e3;
  P = {100e6, 40e6, 20000};
  EXPECT_NE(findLimit(E, h200(), P).Kind, Limit::Launch);
  // The span is not known.
  E.MeanNs = 1800;
  EXPECT_EQ(findLimit(E, h200(), {}).Kind, Limit::Latency);
}

TEST(Limiters, unknownClock_givesNoLimiter) {
  KernelEvidence E = counted(Copy);
  E.MeanNs = 1e5;
  DeviceBalance B = h200();
  B.ClockHz = 0;
  KernelLimit L = findLimit(E, B, busyProgram());
  EXPECT_FALSE(L.Kind);
  EXPECT_EQ(L.Why, "the device's clock is not known");
}
