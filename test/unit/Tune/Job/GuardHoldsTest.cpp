#include "Tune/Job/GuardHolds.h"

#include "unit/Tune/TuneTesting.h"

using namespace carve;

namespace {

/// A kernel with 30 launches of 128 threads, which take a quarter of its time, and 10 launches of
/// 512 threads.
TracedKernel tracedSample() {
  TracedKernel K;
  K.Kernel = "k";
  K.Shapes = {launches("k", 128, 1000), launches("k", 512, 3000)};
  K.Shapes[0].Launches = 30;
  K.Shapes[1].Launches = 10;
  return K;
}

/// The kernel as it is launched with \p Values of parameter 1, one after the other.
TracedKernel passing(std::initializer_list<uint64_t> Values) {
  TracedKernel K = tracedSample();
  K.Arguments.emplace();
  for (uint64_t Bits : Values)
    K.Arguments->add(ArgumentRecord{"k", 1, 4, Bits});
  return K;
}

const EntryGuard Passes4096 = {.Arguments = {{1, 4, 4096}}};

} // namespace

TEST(GuardHolds, dimensions_areCountedByShape) {
  TracedKernel K = tracedSample();
  EXPECT_EQ(holdOf({.MaxThreads = 1024}, K), (GuardHold{40, 40, 1, false}));
  EXPECT_EQ(holdOf({.MaxThreads = 256}, K), (GuardHold{40, 30, 0.25, false}));
  EXPECT_EQ(holdOf({.Block = {{512, 1, 1}}}, K), (GuardHold{40, 10, 0.75, false}));
  EXPECT_EQ(holdOf({.Block = {{16, 8, 1}}}, K), (GuardHold{40, 0, 0, false}))
      << "as many threads in another form";
  EXPECT_EQ(holdOf({.Grid = {{3, 1, 1}}}, K), (GuardHold{40, 0, 0, false}));
}

TEST(GuardHolds, mergedShapes_areAnUpperBoundForAGrid) {
  TracedKernel K = tracedSample();
  K.Shapes[1].Shape.Grid = {0, 0, 0}; // So the probe merges the launches of very many shapes.
  EXPECT_EQ(holdOf({.Grid = {{3, 1, 1}}}, K), (GuardHold{40, 10, 0.75, true}));
  EXPECT_EQ(holdOf({.MaxThreads = 512}, K), (GuardHold{40, 40, 1, false}));
}

TEST(GuardHolds, argumentWithOneValue_holdsAlwaysOrNever) {
  EXPECT_EQ(holdOf(Passes4096, passing({4096})), (GuardHold{40, 40, 1, false}));
  EXPECT_EQ(holdOf(Passes4096, passing({8192})), (GuardHold{40, 0, 0, false}));
  EXPECT_EQ(holdOf({.Arguments = {{1, 8, 4096}}}, passing({4096})), (GuardHold{40, 0, 0, false}))
      << "a parameter of another size is another kernel's";
  EXPECT_EQ(holdOf({.Arguments = {{2, 4, 4096}}}, passing({4096})), (GuardHold{40, 0, 0, false}));
}

TEST(GuardHolds, addresses_holdAsTheirRecordsSay) {
  TracedKernel K = passing({4096});
  const EntryGuard Apart = {.Apart = {{0, 0}, {2, 0}}};
  EXPECT_EQ(holdOf(Apart, K), (GuardHold{40, 0, 0, false})) << "they are no addresses";
  for (unsigned Parameter : {0, 2})
    K.Arguments->add(PointerRecord{"k", Parameter, 0});
  EXPECT_EQ(holdOf(Apart, K), (GuardHold{40, 40, 1, false}));
  EXPECT_EQ(entryOf({Apart}, K, K.Shapes[0]), 0u);
  K.Arguments->add(AliasRecord{"k", 0, 0, 2, 0});
  EXPECT_EQ(holdOf(Apart, K), (GuardHold{40, 40, 1, true}));
  EXPECT_EQ(entryOf({Apart}, K, K.Shapes[0]), std::nullopt);
  EXPECT_EQ(holdOf(Apart, tracedSample()), (GuardHold{40, 40, 1, true})) << "nothing is known";
}

TEST(GuardHolds, argumentThatChanges_isAnUpperBound) {
  EXPECT_EQ(holdOf(Passes4096, passing({4096, 8192})), (GuardHold{40, 40, 1, true}));
  EXPECT_EQ(holdOf({.MaxThreads = 256, .Arguments = {{1, 4, 4096}}}, passing({1, 2})),
            (GuardHold{40, 30, 0.25, true}))
      << "a third value is not recorded";
  EXPECT_EQ(holdOf(Passes4096, tracedSample()), (GuardHold{40, 40, 1, true}))
      << "no call has told its arguments";
}

TEST(GuardHolds, launchThatTakesTheKernelItself_isNotCounted) {
  TracedKernel K = tracedSample();
  K.Shapes[1].Cooperative = true;
  EXPECT_EQ(holdOf({.MaxThreads = 1024}, K), (GuardHold{40, 30, 0.25, false}));
  K = tracedSample();
  K.Shapes[0].Shape.DynamicSmemBytes = 64 << 10;
  EXPECT_EQ(holdOf({.MaxThreads = 1024}, K), (GuardHold{40, 10, 0.75, false}));
  K = tracedSample();
  K.GraphLaunches = 25;
  EXPECT_EQ(holdOf({.MaxThreads = 1024}, K), (GuardHold{40, 15, 1, true}));
  K.GraphLaunches = 40;
  EXPECT_EQ(holdOf({.MaxThreads = 1024}, K), (GuardHold{40, 0, 0, false}));
}

TEST(GuardHolds, firstGuardThatHolds_isTheEntryOfAShape) {
  TracedKernel K = passing({4096, 8});
  const EntryGuard Small{.Block = {{128, 1, 1}}}, Large{.Block = {{512, 1, 1}}};
  EXPECT_EQ(entryOf({Small, Large}, K, K.Shapes[0]), 0u);
  EXPECT_EQ(entryOf({Small, Large}, K, K.Shapes[1]), 1u);
  EXPECT_EQ(entryOf({Small}, K, K.Shapes[1]), std::nullopt);
  EXPECT_EQ(entryOf({Passes4096, Small}, K, K.Shapes[0]), std::nullopt)
      << "it depends on the launch";
  EXPECT_EQ(entryOf({{.Arguments = {{1, 4, 5}}}, Small}, passing({4096}), K.Shapes[0]), 1u);
}
