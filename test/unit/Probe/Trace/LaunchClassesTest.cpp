#include "Probe/Trace/LaunchClasses.h"

#include <gtest/gtest.h>

using namespace carve;
using namespace carve::probe;

static const LaunchShape Shape{{64, 1, 1}, {256, 1, 1}, 0, {1, 1, 1}};
static const std::string Place = "class\tk\t64,1,1\t256,1,1\t0\t1,1,1\t";

TEST(LaunchClasses, records_findTheirLaunchByTheCallsAroundIt) {
  LaunchClasses All;
  // The id of a record is that of the runtime's call, one before the driver's.
  for (unsigned Launch = 0; Launch < 6; ++Launch)
    All.launched("k", Shape, Launch % 2 ? 8 : 7, 100 + 10 * Launch);
  // Records of two streams come in another order.
  for (unsigned Launch : {1u, 0u, 3u, 2u, 5u, 4u})
    All.recorded("k", Shape, 99 + 10 * Launch, Launch % 2 ? 50 : 1000);
  EXPECT_EQ(All.lines(), Place + "7\t3\t3000\n" + Place + "8\t3\t150\n");
}

TEST(LaunchClasses, launchWithoutARecord_isPassedOver) {
  LaunchClasses All;
  All.launched("k", Shape, 7, 10); // It was only added to a graph.
  All.launched("k", Shape, 8, 12);
  for (uint64_t Key : {7, 8, 7})
    All.launched("k", Shape, Key, 20, /*ByNode=*/true);
  for (uint64_t Ns : {1000, 50, 1000})
    All.recorded("k", Shape, 19, Ns);
  EXPECT_EQ(All.lines(), Place + "7\t2\t2000\n" + Place + "8\t1\t50\n");
}

TEST(LaunchClasses, recordOfNoLaunch_isOfNoClass) {
  LaunchClasses All;
  All.launched("k", Shape, 7, 10);
  All.launched("k", Shape, 8, 12);
  All.recorded("k", Shape, 13, 5);
  All.recorded("other", Shape, 10, 5);
  EXPECT_EQ(All.lines(), "");
}

TEST(LaunchClasses, clusterThatTheCodeDemands_isThatOfTheRecord) {
  LaunchClasses All;
  LaunchShape Recorded = Shape;
  Recorded.Cluster = {2, 1, 1};
  for (uint64_t Key : {7, 8}) {
    All.launched("k", Shape, Key, Key);
    All.recorded("k", Recorded, Key, 5);
  }
  EXPECT_EQ(All.lines(), "class\tk\t64,1,1\t256,1,1\t0\t2,1,1\t7\t1\t5\n"
                         "class\tk\t64,1,1\t256,1,1\t0\t2,1,1\t8\t1\t5\n");
}

TEST(LaunchClasses, oneKeyOrTooMany_haveNoLines) {
  LaunchClasses One, Many, Unknown;
  for (unsigned Launch = 0; Launch <= LaunchClasses::MostClasses; ++Launch) {
    One.launched("k", Shape, 7, Launch);
    One.recorded("k", Shape, Launch, 5);
    Many.launched("k", Shape, Launch + 1, Launch);
    Many.recorded("k", Shape, Launch, 5);
    Unknown.launched("k", Shape, Launch % 2 + 1, Launch);
    Unknown.recorded("k", Shape, Launch, 5);
  }
  EXPECT_EQ(One.lines(), "");
  EXPECT_EQ(Many.lines(), "");
  EXPECT_NE(Unknown.lines(), "");
  Unknown.giveUp("k");
  Unknown.launched("k", Shape, 1, 100);
  EXPECT_EQ(Unknown.lines(), "");
}
