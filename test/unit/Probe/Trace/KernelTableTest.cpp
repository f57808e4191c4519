#include "Probe/Trace/KernelTable.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace carve::probe;

static KernelShape shape(uint32_t GridX, uint32_t Registers = 32) {
  KernelShape Shape;
  Shape.Grid = {GridX, 1, 1};
  Shape.Block = {128, 2, 1};
  Shape.Registers = Registers;
  return Shape;
}

TEST(KernelTable, launchesOfOneShape_areSummed) {
  KernelTable Table;
  Table.add("_Z1av", shape(7), 30, 100);
  Table.add("_Z1av", shape(7), 10, 200);
  Table.add("_Z1av", shape(7), 20, 100);
  EXPECT_EQ(Table.drain(),
            "kernel\t_Z1av\t7,1,1\t128,2,1\t0\t0\t1,1,1\t0\t32\t0\t3\t60\t10\t200\n");
}

TEST(KernelTable, differentShapes_areKeptApart) {
  KernelTable Table;
  KernelShape Cluster = shape(1), Cooperative = shape(1), Smem = shape(1);
  Cluster.Cluster = {2, 1, 1};
  Cooperative.Cooperative = 1;
  Smem.DynamicSmemBytes = 16;
  for (const KernelShape &Shape : {shape(1), shape(2), shape(1, 40), Cluster, Cooperative, Smem})
    Table.add("k", Shape, 5, 0);
  Table.add("k2", shape(1), 5, 0);
  std::string Lines = Table.drain();
  EXPECT_EQ(std::count(Lines.begin(), Lines.end(), '\n'), 7);
}

TEST(KernelTable, graphLaunches_areAlsoCountedByThemselves) {
  KernelTable Table;
  Table.add("k", shape(1), 5, 0);
  Table.add("k", shape(1), 5, 0, /*FromGraph=*/true);
  Table.add("k", shape(1), 5, 0, /*FromGraph=*/true);
  EXPECT_EQ(Table.drain(),
            "kernel\tk\t1,1,1\t128,2,1\t0\t0\t1,1,1\t0\t32\t0\t3\t15\t5\t0\ngraph\tk\t2\t10\n");
  Table.add("k", shape(1), 5, 0);
  EXPECT_EQ(Table.drain().find("graph"), std::string::npos);
}

TEST(KernelTable, drain_startsAnew) {
  KernelTable Table;
  EXPECT_EQ(Table.drain(), "");
  Table.add("k", shape(1), 5, 0);
  Table.drain();
  EXPECT_EQ(Table.drain(), "");
  Table.add("k", shape(1), 9, 0);
  EXPECT_EQ(Table.drain(), "kernel\tk\t1,1,1\t128,2,1\t0\t0\t1,1,1\t0\t32\t0\t1\t9\t9\t0\n");
}

TEST(KernelTable, gridsBeyondTheBound_areMergedWithoutLosingLaunches) {
  KernelTable Table;
  constexpr uint32_t Extra = 1000;
  for (uint32_t Grid = 1; Grid <= KernelTable::MaxShapesPerKernel + Extra; ++Grid)
    Table.add("k", shape(Grid), 1, 0);
  Table.add("other", shape(1), 1, 0);
  std::string Lines = Table.drain();
  EXPECT_EQ(size_t(std::count(Lines.begin(), Lines.end(), '\n')),
            KernelTable::MaxShapesPerKernel + 2);
  EXPECT_NE(Lines.find("kernel\tk\t0,0,0\t128,2,1\t0\t0\t1,1,1\t0\t32\t0\t1000\t1000\t1\t0\n"),
            std::string::npos);
  // The bound applies to the whole process, not to one flush.
  Table.add("k", shape(100'000), 1, 0);
  EXPECT_NE(Table.drain().find("0,0,0"), std::string::npos);
}
