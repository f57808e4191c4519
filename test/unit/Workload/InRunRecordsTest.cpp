#include "Workload/InRunRecords.h"

#include "unit/Workload/WorkloadTesting.h"

using namespace carve;

static const std::string Place = "_Z1kv\t10,2,1\t256,1,1\t64\t2,1,1\t";
static const std::string Replayed =
    "replayed\t" + Place + "3\t0\t1\t1000000\t4096\t2\t500\t400\t20\t9000000\n";
static const std::string Verified =
    "verified\t" + Place + "3\tr40\twithin-spread\t7 words of 1024\n";
static const std::string Timed = "timed\t" + Place + "3\tconfirm\t5\tcontrol\t1000.5\t900\n";
static const std::string Rotated = "rotated\t_Z1kv\t10,2,1\t256,1,1\t64\t2,1,1\t7\tr40-f255\t812\n";
static const std::string Every =
    Replayed + Verified + Timed + Rotated +
    "stood-back\t_Z1kv\tmanaged memory\nfault\t_Z1kv\tr40-f255\thung\n";

static InRunRecord parsed(const std::string &Text) { return valueOf(readInRun(Text, "r")); }
static std::string failure(const std::string &Text) { return messageOf(readInRun(Text, "r")); }

TEST(InRunRecords, read_everyRecord_hasItsFields) {
  InRunRecord R = parsed(Every);
  ASSERT_EQ(R.Replays.size(), 1u);
  const ReplayedLaunch &L = R.Replays[0];
  EXPECT_EQ(L.Place.Kernel, "_Z1kv");
  EXPECT_EQ(L.Place.Shape.Grid, (std::array<unsigned, 3>{10, 2, 1}));
  EXPECT_EQ(L.Place.Shape.Block, (std::array<unsigned, 3>{256, 1, 1}));
  EXPECT_EQ(L.Place.Shape.DynamicSmemBytes, 64u);
  EXPECT_EQ(L.Place.Shape.Cluster, (std::array<unsigned, 3>{2, 1, 1}));
  EXPECT_EQ(L.Place.Launch, 3u);
  EXPECT_FALSE(L.Deterministic);
  EXPECT_TRUE(L.Idempotent);
  EXPECT_EQ(L.SavedBytes, 1000000u);
  EXPECT_EQ(L.DirtyBytes, 4096u);
  EXPECT_EQ(L.DirtyRanges, 2u);
  EXPECT_EQ(L.SaveNs, 500u);
  EXPECT_EQ(L.CompareNs, 400u);
  EXPECT_EQ(L.RestoreNs, 20u);
  EXPECT_EQ(L.WholeNs, 9000000u);
  ASSERT_EQ(R.Verified.size(), 1u);
  EXPECT_EQ(R.Verified[0].Variant, "r40");
  EXPECT_EQ(R.Verified[0].Result, Verdict::WithinSpread);
  EXPECT_EQ(R.Verified[0].Detail, "7 words of 1024");
  ASSERT_EQ(R.Timed.size(), 1u);
  EXPECT_TRUE(R.Timed[0].Confirming);
  EXPECT_EQ(R.Timed[0].Round, 5u);
  EXPECT_EQ(R.Timed[0].Variant, "control");
  EXPECT_EQ(R.Timed[0].ColdNs, 1000.5);
  EXPECT_EQ(R.Timed[0].WarmNs, 900);
  ASSERT_EQ(R.Rotated.size(), 1u);
  EXPECT_EQ(R.Rotated[0].Cycle, 7u);
  EXPECT_EQ(R.Rotated[0].Variant, "r40-f255");
  EXPECT_EQ(R.Rotated[0].Ns, 812);
  ASSERT_EQ(R.StoodBack.size(), 1u);
  EXPECT_EQ(R.StoodBack[0].Why, "managed memory");
  ASSERT_EQ(R.Faults.size(), 1u);
  EXPECT_EQ(R.Faults[0].Variant, "r40-f255");
  EXPECT_EQ(R.Faults[0].Why, "hung");
}

TEST(InRunRecords, records_printedAndRead_areTheSame) {
  EXPECT_EQ(printInRun(parsed(Every)), Every);
  EXPECT_EQ(printInRun({}), "");
  InRunRecord R = parsed(Timed);
  R.Timed[0].ColdNs = 1e9 / 3; // Times of events are not whole numbers.
  EXPECT_NEAR(parsed(printInRun(R)).Timed[0].ColdNs, 1e9 / 3, 1e-6);
}

TEST(InRunRecords, verdicts_areWrittenAsWords) {
  for (auto [Word, Result] :
       {std::pair{"equal", Verdict::Equal}, std::pair{"within-spread", Verdict::WithinSpread},
        std::pair{"differs", Verdict::Differs}, std::pair{"stray", Verdict::Stray},
        std::pair{"refused", Verdict::Refused}}) {
    std::string Line = "verified\t" + Place + "0\tr40\t" + Word + "\t\n";
    InRunRecord R = parsed(Line);
    ASSERT_EQ(R.Verified.size(), 1u);
    EXPECT_EQ(R.Verified[0].Result, Result);
    EXPECT_EQ(printInRun(R), Line);
  }
}

/// \p Line with its field number \p At replaced by \p New. If \p New is null, the line ends before
/// it.
static std::string damaged(std::string Line, size_t At, const char *New) {
  size_t Begin = 0;
  for (; At > 0; --At)
    Begin = Line.find('\t', Begin) + 1;
  size_t End = std::min(Line.find('\t', Begin), Line.size() - 1);
  if (!New)
    return Line.substr(0, Begin - 1) + "\n";
  return Line.replace(Begin, End - Begin, New);
}

TEST(InRunRecords, error_namesLineFieldAndWhatWasExpected) {
  EXPECT_EQ(failure(Timed + "kernel\tk\n"), "r:2: unknown record 'kernel'");
  EXPECT_EQ(failure(damaged(Timed, 1, "")), "r:1: 'timed' record: field 1 is '', expected a name");
  EXPECT_EQ(failure(Replayed + damaged(Timed, 2, "10,2")),
            "r:2: 'timed' record: field 2 is '10,2', expected three numbers");
  EXPECT_EQ(failure(damaged(Timed, 7, "warmup")),
            "r:1: 'timed' record: field 7 is 'warmup', expected screen|confirm");
  EXPECT_EQ(failure(damaged(Timed, 8, "-1")),
            "r:1: 'timed' record: field 8 is '-1', expected a number");
  EXPECT_EQ(failure(damaged(Verified, 8, "same")),
            "r:1: 'verified' record: field 8 is 'same', expected "
            "equal|within-spread|differs|stray|refused");
  EXPECT_EQ(failure(damaged(Replayed, 7, "2")),
            "r:1: 'replayed' record: field 7 is '2', expected 0 or 1");
  EXPECT_EQ(failure(damaged(Replayed, 15, nullptr)),
            "r:1: 'replayed' record: field 15 is absent, expected a number");
  EXPECT_EQ(failure("rotated\tk\t1,1,1\t1,1,1\t0\t1,1,1\t0\tr40\t5\tmore\n"),
            "r:1: 'rotated' record: field 9 is 'more', expected none");
}

TEST(InRunRecords, time_notAPlainNumber_isAnError) {
  for (const char *Bad : {"nan", "inf", "-5", "0x10", " 5", "5 ", "", "1e999"})
    EXPECT_EQ(failure(damaged(Rotated, 8, Bad)),
              std::string("r:1: 'rotated' record: field 8 is '") + Bad + "', expected a number");
  EXPECT_EQ(parsed(damaged(Rotated, 8, "1e6")).Rotated[0].Ns, 1e6);
}

TEST(InRunRecords, line_cutShort_isAnError) {
  for (const std::string &Line : {Replayed, Verified, Timed, Rotated})
    for (size_t Cut = Line.rfind('\t'); Cut != std::string::npos;
         Cut = Cut ? Line.rfind('\t', Cut - 1) : std::string::npos)
      EXPECT_NE(failure(Line.substr(0, Cut) + "\n"), "") << Line.substr(0, Cut);
}
