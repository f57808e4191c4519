// Lines of runs with hardware counters, and the counters that are made from them.
#include "Probe/Counters/CountPlan.h"
#include "Protocol/RecordWriter.h"
#include "Workload/ProbeRecords.h"
#include "unit/Workload/WorkloadTesting.h"

#include <set>

using namespace carve;

namespace {

ProbeRecord readLines(const std::string &Lines) {
  ProbeRecord Record;
  EXPECT_EQ(messageOf(readProbeFile(ProbeHead + Lines + "end\n", "file", Record)), "");
  return Record;
}

std::string errorOf(const std::string &Line) {
  ProbeRecord Record;
  return messageOf(readProbeFile(ProbeHead + Line + "\n", "file", Record));
}

std::string measured(const std::string &Metric, double Value, unsigned Launch = 1,
                     const std::string &Kind = "kernel", const std::string &Kernel = "k") {
  return "measured\t" + Kernel + "\t10,1,1\t256,1,1\t64\t1,1,1\t" + std::to_string(Launch) + "\t" +
         Kind + "\t" + Metric + "\t" + decimalText(Value) + "\n";
}

KernelCounters countersOf(const std::string &Lines, double TracedNs = 0) {
  return hardwareCounters(readLines(Lines).Hardware.Counted, {{"k", TracedNs}})["k"];
}

const std::string Elapsed = ".avg.pct_of_peak_sustained_elapsed",
                  Active = ".avg.pct_of_peak_sustained_active";

} // namespace

TEST(CounterRecords, lines_ofARun_areRead) {
  ProbeRecord R = readLines("metrics\tGH100\t1\t3\ta.sum,b.sum\n"
                            "no-metric\tGH100\tbogus.sum\tunknown\n" +
                            measured("a.sum", 2.5, 7, "span") +
                            "unmeasured\tk\t10,1,1\t256,1,1\t64\t1,1,1\t8\tno time\n"
                            "uncounted\tnot permitted\n");
  EXPECT_EQ(R.Hardware.passes(), 3u);
  EXPECT_EQ(R.Hardware.Missing.at("bogus.sum"), "GH100: unknown");
  ASSERT_EQ(R.Hardware.Counted.size(), 1u);
  const CountedMetric &C = R.Hardware.Counted[0];
  EXPECT_EQ(C.Kernel, "k");
  EXPECT_EQ(C.Shape, (LaunchShape{{10, 1, 1}, {256, 1, 1}, 64, {1, 1, 1}}));
  EXPECT_EQ(C.Launch, 7u);
  EXPECT_TRUE(C.IsSpan);
  EXPECT_EQ(C.Metric, "a.sum");
  EXPECT_EQ(C.Value, 2.5);
  EXPECT_EQ(R.Hardware.Uncounted.at("k"), std::set<std::string>{"no time"});
  EXPECT_EQ(R.Uncounted, std::set<std::string>{"not permitted"});
  EXPECT_EQ(readLines("").Hardware.passes(), 0u);
}

TEST(CounterRecords, badLines_areNamed) {
  EXPECT_EQ(errorOf("metrics\tGH100\tx\t3\ta"),
            "file:3: 'metrics' record: field 2 is 'x', expected a number");
  EXPECT_NE(errorOf("measured\tk\t10,1,1\t256,1,1\t64\t1,1,1\t1\tboth\ta\t1").find("field 7"),
            std::string::npos);
  EXPECT_NE(errorOf("measured\tk\t10,1,1\t256,1,1\t64\t1,1,1\t1\tspan\ta\t-1").find("field 9"),
            std::string::npos);
  EXPECT_NE(errorOf("no-metric\tGH100\ta").find("field 3"), std::string::npos);
}

TEST(CounterRecords, counters_severalLaunches_areMeans) {
  std::string Lines;
  for (unsigned Launch : {1u, 2u}) {
    Lines += measured("gpu__time_duration.sum", 100 + Launch, Launch) +
             measured("dram__throughput" + Elapsed, 80, Launch) +
             measured("dram__bytes.sum", 1000.0 * Launch, Launch) +
             measured("lts__t_sectors" + Elapsed, 30, Launch) +
             measured("lts__t_bytes.sum", 5000, Launch) +
             measured("smsp__issue_active" + Active, 5, Launch) +
             measured("sm__warps_active.avg.per_cycle_active", 60, Launch) +
             measured("smsp__inst_executed.sum", 400, Launch) +
             measured("smsp__inst_executed_op_local_ld.sum", 7, Launch) +
             measured("l1tex__data_pipe_lsu_wavefronts_mem_shared" + Elapsed, 3, Launch);
    // Another pass counted these.
    Lines += measured("gpu__time_duration.sum", 103 + Launch, Launch) +
             measured("smsp__inst_executed_op_local_st.sum", 4, Launch) +
             measured("lts__lts2xbar_cycles_active" + Elapsed, 45, Launch) +
             measured("lts__ltcfabric2ltc_cycles_active" + Elapsed, 55, Launch) +
             measured("l1tex__data_bank_reads" + Elapsed, 12, Launch) +
             measured("l1tex__lsuin_requests" + Elapsed, 11, Launch) +
             measured("sm__inst_executed_pipe_alu" + Active, 20, Launch) +
             measured("sm__inst_executed_pipe_fp64" + Active, 101, Launch) +
             measured("sm__inst_executed_pipe_xu" + Active, 3, Launch);
  }
  KernelCounters C = countersOf(Lines, /*TracedNs=*/50);
  EXPECT_EQ(C.Launches, 2u);
  EXPECT_EQ(C.DurationNs, 103);
  EXPECT_EQ(C.DramShare, 0.8);
  EXPECT_EQ(C.DramBytes, 1500);
  EXPECT_EQ(C.L2Share, 0.55) << "the busiest part";
  EXPECT_EQ(C.L2Part, "traffic between its halves");
  EXPECT_EQ(C.L2Bytes, 5000);
  EXPECT_EQ(C.L1Share, 0.12);
  EXPECT_EQ(C.SharedShare, 0.03);
  EXPECT_EQ(C.IssueShare, 0.05);
  EXPECT_EQ(C.PipeShare, 1) << "not above the peak";
  EXPECT_EQ(C.Pipe, "fp64");
  EXPECT_EQ(C.ActiveWarpsPerSm, 60);
  EXPECT_EQ(C.Instructions, 400);
  EXPECT_EQ(C.LocalInstructions, 11);
}

TEST(CounterRecords, counters_notCounted_areAbsent) {
  KernelCounters C = countersOf(measured("smsp__inst_executed_op_local_ld.sum", 7) +
                                measured("fbpa__dram_sectors" + Elapsed, 40));
  EXPECT_EQ(C.Launches, 1u);
  EXPECT_FALSE(C.DurationNs || C.L2Share || C.L1Share || C.SharedShare || C.IssueShare ||
               C.PipeShare || C.ActiveWarpsPerSm || C.DramBytes || C.L2Bytes || C.Instructions);
  EXPECT_FALSE(C.LocalInstructions) << "half of it is none";
  EXPECT_EQ(C.Pipe, "");
  EXPECT_EQ(C.DramShare, 0.4) << "in the throughput's place";
}

TEST(CounterRecords, shares_ofSpans_areConvertedToTheKernelsTime) {
  // An H200 counted a copy of 1 GB like this: it takes 540 us alone, in a span of 640 us.
  std::string Lines = measured("gpu__time_duration.sum", 640000, 1, "span") +
                      measured("dram__throughput" + Elapsed, 67.5, 1, "span") +
                      measured("dram__bytes.sum", 2.1e9, 1, "span") +
                      measured("smsp__issue_active" + Active, 5, 1, "span");
  KernelCounters C = countersOf(Lines, 540000);
  EXPECT_FALSE(C.DurationNs);
  EXPECT_DOUBLE_EQ(C.DramShare.value_or(0), 0.8);
  EXPECT_EQ(C.DramBytes, 2.1e9);
  EXPECT_EQ(C.IssueShare, 0.05) << "of the cycles in which it was active";
  EXPECT_DOUBLE_EQ(countersOf(Lines, 0).DramShare.value_or(0), 0.675) << "its time is not known";
  EXPECT_DOUBLE_EQ(countersOf(Lines, 700000).DramShare.value_or(0), 0.675);
}

TEST(CounterRecords, counters_severalKernels_areSeparate) {
  auto All = hardwareCounters(
      readLines(measured("dram__bytes.sum", 5) + measured("dram__bytes.sum", 9, 1, "kernel", "l"))
          .Hardware.Counted,
      {});
  ASSERT_EQ(All.size(), 2u);
  EXPECT_EQ(All["k"].DramBytes, 5);
  EXPECT_EQ(All["l"].DramBytes, 9);
}

TEST(CounterRecords, wishes_readByTheProbe_areTheSame) {
  CountWish W{"_Z1kv", {{10, 2, 1}, {256, 1, 1}, 64, {2, 1, 1}}, 1, 4};
  auto Dir = llvm::cantFail(TempDir::create("carve-wishes"));
  std::string Path = Dir.path() + "/metrics";
  ASSERT_EQ(messageOf(writeFileAtomically(Path, printCountWishes({W}, 2))), "");
  probe::CountPlan P;
  ASSERT_TRUE(P.read(Path.c_str()));
  EXPECT_EQ(P.Pass, 2u);
  EXPECT_EQ(P.Metrics.size(), hardwareMetrics().size());
  EXPECT_EQ(P.Metrics.front(), "gpu__time_duration.sum") << "which is part of every pass";
  ASSERT_EQ(P.Wishes.size(), 1u);
  EXPECT_EQ(P.Wishes[0].Kernel, "_Z1kv");
  EXPECT_EQ(P.Wishes[0].Shape, (LaunchShape{{10, 2, 1}, {256, 1, 1}, 64, {2, 1, 1}}));
  EXPECT_EQ(P.Wishes[0].First, 1u);
  EXPECT_EQ(P.Wishes[0].Launches, 4u);
}
