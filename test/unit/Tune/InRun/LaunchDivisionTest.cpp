#include "Tune/InRun/LaunchDivision.h"

#include "Tune/InRun/TimedShapes.h"
#include "unit/Tune/TuneTesting.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

namespace {

/// A kernel `k` that is launched in one shape with different arguments.
class LaunchDivisionTest : public testing::Test {
protected:
  LaunchDivisionTest() {
    Kernel.Kernel = "k";
    Kernel.Shapes = {launches("k", 256, 0)};
    Kernel.Shapes[0].Launches = 0;
  }

  /// Adds launches of \p MeanNs each, with the arguments \p Key; 0 if these could not be told.
  void launched(uint64_t Key, uint64_t Launches, uint64_t MeanNs) {
    KernelLaunches &L = Kernel.Shapes[0];
    L.Launches += Launches;
    L.TotalNs += Launches * MeanNs;
    if (Key)
      Kernel.Classes.push_back({"k", L.Shape, Key, Launches, Launches * MeanNs});
  }

  /// The launches and mean times of the classes, or of the shape if it remains undivided.
  std::vector<std::pair<uint64_t, uint64_t>> classes() const {
    std::vector<std::pair<uint64_t, uint64_t>> Found;
    for (const KernelLaunches &L : divideLaunches(Kernel).Kernel.Shapes)
      Found.emplace_back(L.Launches, L.TotalNs / L.Launches);
    return Found;
  }
  /// The keys of each class.
  std::vector<std::set<uint64_t>> keys() const {
    std::vector<std::set<uint64_t>> Found;
    for (const PlannedClass &C : divideLaunches(Kernel).Classes) {
      Found.resize(std::max<size_t>(Found.size(), C.Shape.Class));
      Found[C.Shape.Class - 1].insert(C.Key);
    }
    return Found;
  }

  TracedKernel Kernel;
};

using Classes = std::vector<std::pair<uint64_t, uint64_t>>;
using Keys = std::vector<std::set<uint64_t>>;

} // namespace

TEST_F(LaunchDivisionTest, argumentsThatTakeOtherTimes_areClasses) {
  launched(7, 300, 10'000);
  launched(8, 300, 35'000);
  EXPECT_EQ(classes(), (Classes{{300, 35'000}, {300, 10'000}}));
  EXPECT_EQ(keys(), (Keys{{8}, {7}}));
  std::vector<TimedShape> Timed = timedShapes(Kernel);
  ASSERT_EQ(Timed.size(), 2u);
  EXPECT_EQ(Timed[0].Shape.Class, 1u);
  EXPECT_EQ(Timed[0].MeanNs, 35'000);
  EXPECT_EQ(launchedShapes(Kernel).size(), 1u) << "what else is done with shapes knows no classes";
}

TEST_F(LaunchDivisionTest, argumentsThatTakeTheSameTime_areTogether) {
  launched(7, 300, 10'000);
  launched(8, 300, 10'400);
  EXPECT_EQ(classes(), (Classes{{600, 10'200}}));
  EXPECT_TRUE(keys().empty());
  launched(9, 300, 30'000);
  EXPECT_EQ(classes(), (Classes{{300, 30'000}, {600, 10'200}}));
  EXPECT_EQ(keys(), (Keys{{9}, {7, 8}}));
}

TEST_F(LaunchDivisionTest, everyLaunchWithItsOwn_remainsUndivided) {
  for (uint64_t Step = 1; Step <= 40; ++Step)
    launched(Step, 1, 10'000 + 1000 * Step);
  EXPECT_EQ(classes().size(), 1u);
}

TEST_F(LaunchDivisionTest, noArgumentsTraced_remainsUndivided) {
  launched(0, 300, 10'000);
  EXPECT_EQ(classes(), (Classes{{300, 10'000}}));
  EXPECT_TRUE(keys().empty());
}

TEST_F(LaunchDivisionTest, shortLaunches_areOneClassOfTheRest) {
  launched(7, 100, 100'000);
  launched(8, 100, 1'000);
  launched(9, 100, 2'000);
  EXPECT_EQ(classes(), (Classes{{100, 100'000}, {200, 1'500}}));
  EXPECT_EQ(keys(), (Keys{{7}, {0}}));
}

TEST_F(LaunchDivisionTest, manyClasses_areThreeAndTheRest) {
  for (uint64_t Key = 1; Key <= 6; ++Key)
    launched(Key, 100, 10'000 * Key);
  EXPECT_EQ(classes(), (Classes{{100, 60'000}, {100, 50'000}, {100, 40'000}, {300, 20'000}}));
}

TEST_F(LaunchDivisionTest, fewOtherLaunches_areNoClass) {
  launched(7, 1000, 10'000);
  launched(8, 10, 30'000);
  EXPECT_EQ(classes().size(), 1u);
}

TEST_F(LaunchDivisionTest, launchesThatDifferOtherwise_areNotDivided) {
  launched(7, 300, 10'000);
  launched(8, 300, 35'000);
  Kernel.Shapes.push_back(Kernel.Shapes[0]);
  Kernel.Shapes[1].Cooperative = true;
  EXPECT_EQ(classes().size(), 2u);
  EXPECT_TRUE(keys().empty());
}

TEST_F(LaunchDivisionTest, recordsThatSayMoreThanThereIs_areNotBelieved) {
  launched(7, 300, 10'000);
  launched(8, 300, 35'000);
  Kernel.Classes[1].TotalNs *= 10;
  EXPECT_EQ(classes().size(), 1u);
}
