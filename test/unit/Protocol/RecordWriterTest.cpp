#include "Protocol/RecordWriter.h"

#include "Protocol/CaptureRecords.h"
#include "Protocol/CountRecords.h"

#include <gtest/gtest.h>

using namespace carve;

TEST(RecordWriter, controlCharactersInAField_becomeSpaces) {
  EXPECT_EQ(oneLine("a\tb\nc\x7f"), "a b c ");
  EXPECT_EQ(recordLine(StoodBackKernel{"k", "b\tc\nd"}), "stood-back\tk\tb c d\n");
}

TEST(RecordWriter, fields_comeInTheirOrder) {
  LaunchPlace Place{"k", {{1, 2, 3}, {4, 5, 6}, 7, {2, 1, 1}}, 9};
  EXPECT_EQ(recordLine(TimedSample{Place, true, 3, "r40", 1000, 12.5}),
            "timed\tk\t1,2,3\t4,5,6\t7\t2,1,1\t9\tconfirm\t3\tr40\t1000\t12.5\n");
  EXPECT_EQ(recordLine(VerifiedVariant{Place, "control", Verdict::WithinSpread, ""}),
            "verified\tk\t1,2,3\t4,5,6\t7\t2,1,1\t9\tcontrol\twithin-spread\t\n");
  EXPECT_EQ(recordLine(RawAfter{{"d1", "d2"}}), "after\td1\td2\n");
  EXPECT_EQ(recordLine(RawEnd()), "end\n");
}

TEST(RecordWriter, fractions_haveAtMostSixDecimals) {
  EXPECT_EQ(fractionText(0), "0");
  EXPECT_EQ(fractionText(1e15), "1000000000000000");
  EXPECT_EQ(fractionText(0.25), "0.25");
  EXPECT_EQ(fractionText(0.9999999), "1") << "rounded";
  EXPECT_EQ(fractionText(10.000001), "10.000001");
  EXPECT_EQ(decimalText(3), "3.000000");
  EXPECT_EQ(decimalText(1e18), "0.000000") << "no count is as large";
  EXPECT_EQ(decimalText(-1), "0.000000");
}
