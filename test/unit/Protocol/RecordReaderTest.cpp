#include "Protocol/RecordReader.h"

#include "Protocol/CountRecords.h"
#include "Protocol/PlanRecords.h"
#include "Protocol/RecordWriter.h"

#include <gtest/gtest.h>

using namespace carve;

/// Returns what is wrong with \p Line as a record of kind \p T; empty if nothing is.
template <class T> static std::string wrong(const std::string &Line) {
  RecordReader In(Line);
  EXPECT_EQ(In.kind(), T::Kind.Word);
  (void)readRecord<T>(In);
  return In.bad().value_or("");
}

TEST(RecordReader, soundRecord_isReadWhole) {
  std::string Line = "measured\tk\t1,2,3\t4,5,6\t7\t2,1,1\t9\tspan\tm\t12.5";
  RecordReader In(Line);
  auto R = readRecord<CountedMetric>(In);
  EXPECT_FALSE(In.bad());
  EXPECT_EQ(R.Kernel, "k");
  EXPECT_EQ(R.Shape, (LaunchShape{{1, 2, 3}, {4, 5, 6}, 7, {2, 1, 1}}));
  EXPECT_EQ(R.Launch, 9u);
  EXPECT_TRUE(R.IsSpan);
  EXPECT_EQ(R.Metric, "m");
  EXPECT_EQ(R.Value, 12.5);
}

TEST(RecordReader, classOfAShape_followsTheCluster) {
  std::string Line = "shape\tk\t1,2,3\t4,5,6\t7\t2,1,1/3\t9\t5";
  RecordReader In(Line);
  auto R = readRecord<PlannedShape>(In);
  EXPECT_FALSE(In.bad());
  EXPECT_EQ(R.Shape, (LaunchShape{{1, 2, 3}, {4, 5, 6}, 7, {2, 1, 1}, 3}));
  EXPECT_EQ(recordLine(R), Line + "\n");
  for (const char *Bad : {"1,1,1/", "1,1,1/0", "1,1,1/-1", "1,1,1/2x", "1,1,1/2/3", "1,1/2", "/2"})
    EXPECT_EQ(wrong<PlannedShape>(std::string("shape\tk\t1,1,1\t1,1,1\t0\t") + Bad + "\t1\t5"),
              std::string("field 5 is '") + Bad +
                  "', expected three numbers, or these and a class");
}

TEST(RecordReader, malformedField_isNamedWithWhatWasExpected) {
  EXPECT_EQ(wrong<SeedRecord>("seed"), "field 1 is absent, expected a number");
  EXPECT_EQ(wrong<SeedRecord>("seed\t"), "field 1 is '', expected a number");
  EXPECT_EQ(wrong<SeedRecord>("seed\t-1"), "field 1 is '-1', expected a number");
  EXPECT_EQ(wrong<SeedRecord>("seed\t1x"), "field 1 is '1x', expected a number");
  EXPECT_EQ(wrong<SeedRecord>("seed\t18446744073709551616"),
            "field 1 is '18446744073709551616', expected a number");
  EXPECT_EQ(wrong<SeedRecord>("seed\t1\t2"), "field 2 is '2', expected none");
  EXPECT_EQ(wrong<SeedRecord>("seed\t1\t"), "field 2 is '', expected none");
  EXPECT_EQ(wrong<KernelRecord>("kernel\t\tx\ty"), "field 1 is '', expected a name");
  EXPECT_EQ(wrong<KernelRecord>("kernel\tk\tx\ty"),
            "field 2 is 'x', expected fixed|rotate|replay|verify-rotate|dispatch");
  EXPECT_EQ(wrong<KernelRecord>("kernel\tk\treplay\ty"), "field 3 is 'y', expected none|rotate");
  for (const char *Bad : {"", "1", "1,2", "1,2,3,4", "1,2,", "1,,2", "1,2,x", "1,2,4294967296"})
    EXPECT_EQ(wrong<PlannedShape>(std::string("shape\tk\t") + Bad + "\t1,1,1\t0\t1,1,1\t1\t5"),
              std::string("field 2 is '") + Bad + "', expected three numbers");
}

TEST(RecordReader, time_isAPlainNumber) {
  const std::string Place = "rotated\tk\t1,1,1\t1,1,1\t0\t1,1,1\t0\tr40\t";
  for (const char *Bad : {"nan", "inf", "-5", "-0", "0x10", " 5", "5 ", "", "1e999", "1e18"})
    EXPECT_EQ(wrong<RotatedSample>(Place + Bad),
              std::string("field 8 is '") + Bad + "', expected a number");
  for (const char *Good : {"0", "5", "1.5", "1e6"})
    EXPECT_EQ(wrong<RotatedSample>(Place + Good), "");
}
