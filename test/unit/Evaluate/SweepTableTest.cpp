#include "Evaluate/SweepTable.h"

#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace carve;

namespace {

constexpr llvm::StringLiteral Header =
    "program\tkernel\tgrid\tblock\tstatic_smem_bytes\tdynamic_smem_bytes\tfrontend_cap\tptxas_cap\t"
    "register_usage_level\tdlcm\tregs_per_thread\tlaunches\ttotal_ns\n";

std::string errorOf(const std::string &Text) {
  auto Rows = parseSweepTable(Text, "t.tsv");
  return Rows ? "" : llvm::toString(Rows.takeError());
}

/// Returns a good row with one field replaced.
std::string rowWith(size_t Field, llvm::StringRef Value) {
  llvm::SmallVector<llvm::StringRef> Fields{"p", "k", "1,1,1", "32,1,1", "0",  "0",   "-",
                                            "-", "5", "-",     "32",     "10", "1000"};
  Fields[Field] = Value;
  return (Header + llvm::join(Fields, "\t") + "\n").str();
}

} // namespace

TEST(SweepTable, row_isRead) {
  auto Rows =
      parseSweepTable((Header + "p\t_Z1kv\t8,4,2\t32,2,1\t128\t64\t255\t40\t10\tcg\t38\t10\t"
                                "1234.5\n")
                          .str(),
                      "t.tsv");
  ASSERT_TRUE(bool(Rows)) << llvm::toString(Rows.takeError());
  ASSERT_EQ(Rows->size(), 1u);
  const SweepRow &R = Rows->front();
  EXPECT_EQ(R.Program, "p");
  EXPECT_EQ(R.Kernel, "_Z1kv");
  EXPECT_EQ(R.Shape.Grid, (std::array<unsigned, 3>{8, 4, 2}));
  EXPECT_EQ(R.Shape.Block, (std::array<unsigned, 3>{32, 2, 1}));
  EXPECT_EQ(R.StaticSmemBytes, 128u);
  EXPECT_EQ(R.Shape.DynamicSmemBytes, 64u);
  EXPECT_EQ(R.Setting.FrontEndCap, 255u);
  EXPECT_EQ(R.Setting.PtxasCap, 40u);
  EXPECT_EQ(R.Setting.RegisterUsageLevel, 10u);
  EXPECT_EQ(R.Setting.Dlcm, "cg");
  EXPECT_EQ(R.RegsPerThread, 38u);
  EXPECT_EQ(R.Launches, 10u);
  EXPECT_DOUBLE_EQ(R.TotalNs, 1234.5);
}

TEST(SweepTable, columnsInOtherOrder_areRead) {
  auto Rows = parseSweepTable(
      "\xEF\xBB\xBFtotal_ns\tnote\tkernel\tprogram\tgrid\tblock\tstatic_smem_bytes\t"
      "dynamic_smem_bytes\tfrontend_cap\tptxas_cap\tregister_usage_level\tdlcm\tlaunches\t"
      "regs_per_thread\r\n\r\n7\thot\tk\tp\t1,1,1\t32,1,1\t0\t0\t-\t-\t-\t-\t2\t16",
      "t.tsv");
  ASSERT_TRUE(bool(Rows)) << llvm::toString(Rows.takeError());
  ASSERT_EQ(Rows->size(), 1u);
  EXPECT_EQ(Rows->front().Program, "p");
  EXPECT_DOUBLE_EQ(Rows->front().TotalNs, 7);
  EXPECT_EQ(Rows->front().Launches, 2u);
  EXPECT_TRUE(Rows->front().Setting.isDefault());
}

TEST(SweepTable, malformedField_isNamedWithLineAndColumn) {
  EXPECT_EQ(errorOf(rowWith(0, "")), "t.tsv:2: column 'program' is '', expected a name");
  EXPECT_EQ(errorOf(rowWith(2, "8,4")),
            "t.tsv:2: column 'grid' is '8,4', expected three extents such as 128,1,1");
  EXPECT_EQ(errorOf(rowWith(3, "32,0,1")),
            "t.tsv:2: column 'block' is '32,0,1', expected three extents such as 128,1,1");
  EXPECT_EQ(errorOf(rowWith(4, "-1")),
            "t.tsv:2: column 'static_smem_bytes' is '-1', expected a whole number");
  EXPECT_EQ(errorOf(rowWith(6, "none")),
            "t.tsv:2: column 'frontend_cap' is 'none', expected a number of registers, or '-'");
  EXPECT_EQ(errorOf(rowWith(7, "0")),
            "t.tsv:2: column 'ptxas_cap' is '0', expected a number of registers, or '-'");
  EXPECT_EQ(errorOf(rowWith(8, "low")),
            "t.tsv:2: column 'register_usage_level' is 'low', expected a whole number");
  EXPECT_EQ(errorOf(rowWith(10, "3.5")),
            "t.tsv:2: column 'regs_per_thread' is '3.5', expected a whole number");
  EXPECT_EQ(errorOf(rowWith(10, "257")),
            "t.tsv:2: column 'regs_per_thread' is '257', expected at most 256 registers");
  for (const char *Time : {"-5", "nan", "inf", "12 ns", ""})
    EXPECT_EQ(errorOf(rowWith(12, Time)), std::string("t.tsv:2: column 'total_ns' is '") + Time +
                                              "', expected a time in nanoseconds");
}

namespace {

/// Returns a table whose only row has \p Value in the optional column \p Name.
std::string withColumn(llvm::StringRef Name, llvm::StringRef Value) {
  return (Header.drop_back() + "\t" + Name + "\np\tk\t1,1,1\t32,1,1\t0\t0\t-\t-\t5\t-\t32\t1\t1\t" +
          Value + "\n")
      .str();
}

SweepRow rowWithColumn(llvm::StringRef Name, llvm::StringRef Value) {
  return llvm::cantFail(parseSweepTable(withColumn(Name, Value), "t.tsv")).front();
}

} // namespace

TEST(SweepTable, optionalColumns_areRead) {
  EXPECT_TRUE(rowWithColumn("smem_spilling", "1").Setting.SmemSpilling);
  EXPECT_TRUE(rowWithColumn("smem_spilling", "0").Setting.isDefault());
  EXPECT_EQ(rowWithColumn("front_end_knob", "newrolled").Setting.FrontEnd,
            FrontEndKnob::NewerLlvmRolled);
  EXPECT_TRUE(rowWithColumn("known_ptx", "1").Setting.KnownPtx);
  EXPECT_EQ(rowWithColumn("optimization_level", "1").Setting.OptimizationLevel, 1u);
  EXPECT_EQ(rowWithColumn("spill_bytes", "24").Metrics.SpillBytes, 24u);
  EXPECT_EQ(rowWithColumn("occupancy", "0.625").Metrics.Occupancy, 0.625);
  EXPECT_EQ(rowWithColumn("efficiency", "2e-10").Metrics.Efficiency, 2e-10);
  EXPECT_EQ(rowWithColumn("utilization", "165.5").Metrics.Utilization, 165.5);
  EXPECT_FALSE(rowWithColumn("efficiency", "0").Metrics.Efficiency);
  for (const char *Column : {"smem_spilling", "front_end_knob", "known_ptx", "optimization_level",
                             "spill_bytes", "occupancy", "efficiency", "utilization", "note"}) {
    SweepRow R = rowWithColumn(Column, "-");
    EXPECT_TRUE(R.Setting.isDefault()) << Column;
    EXPECT_FALSE(R.Metrics.SpillBytes || R.Metrics.Occupancy || R.Metrics.Efficiency ||
                 R.Metrics.Utilization)
        << Column;
  }
}

TEST(SweepTable, malformedOptionalField_isNamed) {
  EXPECT_EQ(errorOf(withColumn("smem_spilling", "yes")),
            "t.tsv:2: column 'smem_spilling' is 'yes', expected 0 or 1");
  EXPECT_EQ(errorOf(withColumn("known_ptx", "2")),
            "t.tsv:2: column 'known_ptx' is '2', expected 0 or 1");
  EXPECT_EQ(errorOf(withColumn("optimization_level", "3")),
            "t.tsv:2: column 'optimization_level' is '3', expected 1 or '-'");
  EXPECT_EQ(errorOf(withColumn("front_end_knob", "fast")),
            "t.tsv:2: column 'front_end_knob' is 'fast', expected newllvm, newrolled, unroll, "
            "unroll2, noremat, known or shapes, or '-'");
  EXPECT_EQ(errorOf(withColumn("spill_bytes", "-8")),
            "t.tsv:2: column 'spill_bytes' is '-8', expected a whole number");
  EXPECT_EQ(errorOf(withColumn("occupancy", "62")),
            "t.tsv:2: column 'occupancy' is '62', expected a share from 0 to 1, or '-'");
  for (const char *Column : {"efficiency", "utilization"})
    for (const char *Value : {"nan", "-1", ""})
      EXPECT_EQ(errorOf(withColumn(Column, Value)), std::string("t.tsv:2: column '") + Column +
                                                        "' is '" + Value +
                                                        "', expected a number from 0, or '-'");
  EXPECT_EQ(errorOf((Header.drop_back() + "\toccupancy\toccupancy\n").str()),
            "t.tsv:1: column 'occupancy' occurs 2 times in the header, expected at most once");
}

TEST(SweepTable, malformedTable_isNamed) {
  EXPECT_EQ(errorOf(""), "t.tsv: the file is empty, expected a table with a header");
  EXPECT_EQ(errorOf(Header.str()), "t.tsv: no rows under the header, expected at least one");
  EXPECT_EQ(errorOf("program\tkernel\n"),
            "t.tsv:1: column 'grid' occurs 0 times in the header, expected once");
  EXPECT_EQ(errorOf("program\tprogram\n"),
            "t.tsv:1: column 'program' occurs 2 times in the header, expected once");
  EXPECT_EQ(errorOf(Header.str() + "\np\tk\n"), "t.tsv:3: 2 columns, expected 13 as in the header");
}
