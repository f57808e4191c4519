#include "Probe/Replay/Rotation.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace carve::probe;

TEST(Rotation, cycle_hasEveryVariantOnceInAnOrderOfItsOwn) {
  Rotation R({0, 1, 2, 3, 5}, 7);
  std::map<unsigned, std::vector<size_t>> Cycles;
  while (!R.ended()) {
    auto T = R.next();
    ASSERT_TRUE(T);
    Cycles[T->Cycle].push_back(T->Variant);
  }
  EXPECT_EQ(Cycles.size(), Rotation::MaxCycles);
  std::set<std::vector<size_t>> Orders;
  for (const auto &[Cycle, Order] : Cycles) {
    EXPECT_EQ(std::set<size_t>(Order.begin(), Order.end()), (std::set<size_t>{0, 1, 2, 3, 5}));
    EXPECT_EQ(Order.size(), 5u);
    Orders.insert(Order);
  }
  EXPECT_GT(Orders.size(), 30u);
  EXPECT_FALSE(R.next()) << "afterwards the default runs";
}

/// The launches of a rotation of three variants until it has ended.
static std::vector<Rotation::Turn> allTurns(unsigned InARow) {
  Rotation R({0, 1, 2}, 7, InARow);
  std::vector<Rotation::Turn> Turns;
  while (!R.ended())
    Turns.push_back(*R.next());
  return Turns;
}

TEST(Rotation, inARow_onlyTheLastLaunchOfEachVariantCounts) {
  for (unsigned InARow : {2u, 5u}) {
    std::map<unsigned, std::set<size_t>> Counted;
    std::set<size_t> Places;
    const std::vector<Rotation::Turn> Turns = allTurns(InARow);
    for (size_t I = 0; I < Turns.size(); ++I) {
      if (!Turns[I].Counts)
        continue;
      ASSERT_GE(I + 1, InARow);
      for (size_t Before = I + 1 - InARow; Before < I; ++Before)
        EXPECT_EQ(Turns[Before].Variant, Turns[I].Variant);
      EXPECT_TRUE(Counted[Turns[I].Cycle].insert(Turns[I].Variant).second);
      Places.insert(I % InARow);
    }
    EXPECT_EQ(Counted.size(), Rotation::MaxCycles);
    for (const auto &[Cycle, Variants] : Counted)
      EXPECT_EQ(Variants.size(), 3u);
    EXPECT_EQ(Places.size(), InARow) << "the program may have as many kinds of launches in turn";
    EXPECT_GT(Turns.size(), Rotation::MaxCycles * 3 * InARow);
    EXPECT_LT(Turns.size(), Rotation::MaxCycles * 4 * InARow);
  }
}

TEST(Rotation, mostInARow_takesWhatThereIsForAllCycles) {
  struct {
    uint64_t Launches;
    unsigned InARow;
  } Cases[] = {{0, 1},           {12 * 7 - 1, 1}, {12 * 7, 2},     {64 * 8, 2},
               {64 * 12 - 1, 2}, {64 * 12, 3},    {64 * 4 * 8, 8}, {1'000'000, 8}};
  for (auto [Launches, InARow] : Cases)
    EXPECT_EQ(Rotation::mostInARow(Launches, 3), InARow) << Launches;
}

TEST(Rotation, interrupt_theRowBeginsAgain) {
  Rotation R({0, 1, 2}, 7, /*InARow=*/3);
  std::optional<Rotation::Turn> T;
  while (!T || !T->Counts)
    T = R.next();
  (void)R.next();
  EXPECT_FALSE(R.next()->Counts);
  R.interrupt();
  for (bool Counts : {false, false, true, false})
    EXPECT_EQ(R.next()->Counts, Counts);
  Rotation Plain({0, 1, 2}, 7);
  EXPECT_TRUE(Plain.next()->Counts);
  Plain.interrupt();
  EXPECT_TRUE(Plain.next()->Counts);
}

TEST(Rotation, recorded_findsIdsAmongManyWaitingLaunches) {
  Rotation R({0, 1}, 1);
  for (unsigned I = 0; I < 300; ++I) // A second thread has been given its id long before.
    R.launched({I, 0}, I == 148 ? 50 : 100 + I);
  EXPECT_EQ(R.recorded(0, 50)->Cycle, 148u);
  for (unsigned I = 0; I < 300; ++I) {
    if (I != 148) {
      EXPECT_EQ(R.recorded(0, 100 + I)->Cycle, I);
    }
  }
  EXPECT_FALSE(R.recorded(0, 1000)) << "ids have matched";
  for (unsigned I = 0; I < 200; ++I) // The nodes of one graph.
    R.launched({I, I % 2}, 5000, Rotation::By::Node);
  for (unsigned I = 0; I < 200; ++I)
    EXPECT_EQ(R.recorded(I % 2, 5000, /*InGraph=*/true)->Cycle, I);
  R.launched({7, 0}, 6000, Rotation::By::NestedCall);
  EXPECT_EQ(R.recorded(0, 1001)->Cycle, 7u) << "its record may have another id";
}

TEST(Rotation, inARow_droppedBetweenItsLaunches_theNextOneRunsTwiceToo) {
  for (uint64_t Seed = 0; Seed < 20; ++Seed) {
    Rotation R({0, 1, 2}, Seed, /*InARow=*/2);
    auto T = R.next();
    while (T->Counts || T->Variant == 0) // The default stays.
      T = R.next();
    const size_t Dropped = T->Variant;
    R.drop(Dropped);
    std::optional<size_t> Before;
    for (int I = 0; I < 20; ++I) {
      T = R.next();
      ASSERT_TRUE(T);
      EXPECT_NE(T->Variant, Dropped);
      EXPECT_TRUE(!T->Counts || Before == T->Variant);
      Before = T->Variant;
    }
  }
}

TEST(Rotation, seed_decidesTheOrder) {
  auto FirstOf = [](uint64_t Seed) {
    Rotation R({0, 1, 2, 3, 4, 5, 6, 7}, Seed);
    std::vector<size_t> Order;
    for (int I = 0; I < 8; ++I)
      Order.push_back(R.next()->Variant);
    return Order;
  };
  EXPECT_EQ(FirstOf(1), FirstOf(1));
  EXPECT_NE(FirstOf(1), FirstOf(2));
}

TEST(Rotation, defaultAlone_isNotRotated) {
  Rotation R({0}, 1);
  EXPECT_FALSE(R.next());
}

TEST(Rotation, records_findTheirTurnByCorrelation) {
  Rotation R({0, 1}, 1);
  R.launched({0, 1}, 100);
  R.launched({1, 1}, 101);
  R.launched({2, 1}, 102);
  EXPECT_EQ(R.recorded(1, 102)->Cycle, 2u);
  EXPECT_EQ(R.recorded(1, 100)->Cycle, 0u);
  EXPECT_FALSE(R.recorded(1, 999)) << "a launch of another place, once ids are known to match";
  EXPECT_EQ(R.recorded(1, 101)->Cycle, 1u);
  EXPECT_FALSE(R.recorded(1, 101));
}

TEST(Rotation, recordsWithoutMatchingIds_areAssignedByTheirOrder) {
  Rotation R({0, 1, 2}, 1);
  R.launched({0, 2}, 100);
  R.launched({0, 1}, 101);
  R.launched({1, 1}, 102);
  R.launched({1, 2}, 103);
  EXPECT_EQ(R.recorded(1, 7)->Cycle, 0u);
  EXPECT_EQ(R.recorded(2, 8)->Cycle, 0u);
  EXPECT_EQ(R.recorded(2, 9)->Cycle, 1u);
  EXPECT_EQ(R.recorded(1, 10)->Cycle, 1u);
  EXPECT_FALSE(R.recorded(0, 11));
}

TEST(Rotation, nestedLaunch_findsItsRecordWithAnyId) {
  Rotation R({0, 1}, 1);
  R.launched({0, 1}, 100);
  R.launched({1, 1}, 101, Rotation::By::NestedCall);
  R.launched({2, 1}, 102, Rotation::By::NestedCall);
  R.launched({3, 1}, 103);
  EXPECT_EQ(R.recorded(1, 100)->Cycle, 0u);
  EXPECT_EQ(R.recorded(1, 102)->Cycle, 2u);
  EXPECT_EQ(R.recorded(1, 999)->Cycle, 1u) << "the id of the outer call";
  EXPECT_FALSE(R.recorded(1, 999)) << "the last launch is not nested, and its record comes";
  EXPECT_EQ(R.recorded(1, 103)->Cycle, 3u);
}

TEST(Rotation, failedLaunch_waitsForNoRecord) {
  Rotation R({0, 1}, 1);
  R.launched({0, 1}, 100);
  R.launched({1, 1}, 101);
  R.failed(100);
  EXPECT_EQ(R.recorded(1, 5)->Cycle, 1u);
}

TEST(Rotation, droppedVariant_isRotatedNoMore) {
  Rotation R({0, 1, 2, 3}, 1);
  R.next();
  R.drop(2);
  size_t Turns = 0;
  while (auto T = R.next()) {
    EXPECT_NE(T->Variant, T->Cycle > 0 ? 2u : 99u);
    ++Turns;
  }
  EXPECT_GE(Turns, 3u * (Rotation::MaxCycles - 1));
}

TEST(Rotation, pending_namesTheOldestVariantUnderWay) {
  Rotation R({0, 1, 2}, 1);
  size_t Oldest = 99;
  R.launched({0, 0}, 100);
  EXPECT_FALSE(R.pending(Oldest)) << "the default is not a variant";
  R.launched({0, 2}, 101);
  R.launched({0, 1}, 102);
  EXPECT_TRUE(R.pending(Oldest));
  EXPECT_EQ(Oldest, 2u);
  R.recorded(2, 101);
  EXPECT_TRUE(R.pending(Oldest));
  EXPECT_EQ(Oldest, 1u);
}

TEST(Rotation, turnThatDoesNotCount_takesItsOwnRecordAndNoOther) {
  Rotation R({0, 1}, 1);
  R.launched({3, 0, /*Counts=*/false}, 100);
  R.launched({4, 0}, 101);
  size_t Oldest = 99;
  EXPECT_FALSE(R.pending(Oldest)) << "it runs the default";
  auto First = R.recorded(0, 7), Second = R.recorded(0, 8);
  ASSERT_TRUE(First && Second);
  EXPECT_FALSE(First->Counts);
  EXPECT_TRUE(Second->Counts);
  EXPECT_EQ(Second->Cycle, 4u);
}

/// Two rotations, as of two classes of a shape. What a record says of both decides.
TEST(Rotation, match_prefersIdsAndThenTheOldestLaunch) {
  Rotation A({0, 1}, 1), B({0, 1}, 2);
  A.launched({0, 1}, 100, Rotation::By::Call, 5);
  B.launched({0, 1}, 101, Rotation::By::Call, 6);
  EXPECT_FALSE(A.match(0, 100, false)) << "no launch of this variant waits";
  EXPECT_LT(*B.match(1, 101, false), *A.match(1, 101, false));
  EXPECT_LT(*A.match(1, 100, false), *B.match(1, 100, false));
  EXPECT_LT(*A.match(1, 999, false), *B.match(1, 999, false)) << "it was launched first";
  ASSERT_TRUE(A.recorded(1, 999));
  EXPECT_FALSE(A.match(1, 999, false));
}
