#include "Workload/CounterRecords.h"

#include "Protocol/RecordWriter.h"

#include <algorithm>
#include <tuple>

using namespace carve;

#define CARVE_ELAPSED ".avg.pct_of_peak_sustained_elapsed"
#define CARVE_ACTIVE ".avg.pct_of_peak_sustained_active"

/// Each metric needs one pass on every chip since Turing, unless said otherwise. According to the
/// host functions of CUPTI 13.0, all together need four passes on these chips. `lts__throughput`
/// and `l1tex__throughput` alone need up to nine passes, so the largest of their parts is used
/// instead, as CUPTI does. The parts for textures and system memory are left out, and so is
/// `l1tex__lsu_writeback`, which needs two passes.
static constexpr llvm::StringLiteral Duration = "gpu__time_duration.sum";
static constexpr llvm::StringLiteral DramThroughput = "dram__throughput" CARVE_ELAPSED;
/// Used on Turing, where the throughput needs two passes.
static constexpr llvm::StringLiteral DramSectors = "fbpa__dram_sectors" CARVE_ELAPSED;
static constexpr llvm::StringLiteral Metrics[] = {
    Duration,
    DramThroughput,
    "dram__bytes.sum",
    "lts__t_sectors" CARVE_ELAPSED,
    "lts__t_bytes.sum",
    "smsp__issue_active" CARVE_ACTIVE,
    "sm__warps_active.avg.per_cycle_active",
    "smsp__inst_executed.sum",
    "smsp__inst_executed_op_local_ld.sum",
    "smsp__inst_executed_op_local_st.sum",
    "sm__inst_executed_pipe_fma" CARVE_ACTIVE,
    "sm__inst_executed_pipe_alu" CARVE_ACTIVE,
    "sm__inst_executed_pipe_fp64" CARVE_ACTIVE,
    "sm__inst_executed_pipe_xu" CARVE_ACTIVE,
    "sm__pipe_tensor_cycles_active" CARVE_ACTIVE,
    "l1tex__data_pipe_lsu_wavefronts_mem_shared" CARVE_ELAPSED,
    // Chips with two L2 halves, A100 and H100, have the first metric. Which of the next two a chip
    // has varies.
    "lts__ltcfabric2ltc_cycles_active" CARVE_ELAPSED,
    "lts__lts2xbar_cycles_active_realtime" CARVE_ELAPSED,
    "lts__lts2xbar_cycles_active" CARVE_ELAPSED,
    "lts__xbar2lts_cycles_active" CARVE_ELAPSED,
    "lts__t_tag_requests" CARVE_ELAPSED,
    "lts__d_sectors" CARVE_ELAPSED,
    "lts__d_sectors_fill_device" CARVE_ELAPSED,
    "l1tex__data_pipe_lsu_wavefronts" CARVE_ELAPSED,
    "l1tex__m_l1tex2xbar_req_cycles_active" CARVE_ELAPSED,
    "l1tex__data_bank_reads" CARVE_ELAPSED,
    "l1tex__data_bank_writes" CARVE_ELAPSED,
    "l1tex__lsuin_requests" CARVE_ELAPSED,
    "l1tex__f_wavefronts" CARVE_ELAPSED,
    "l1tex__m_xbar2l1tex_throughput" CARVE_ELAPSED,
    DramSectors,
};

/// The parts of L2's throughput, with names for the report.
static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> L2Parts[] = {
    {"lts__t_sectors" CARVE_ELAPSED, "looking up sectors"},
    {"lts__t_tag_requests" CARVE_ELAPSED, "looking up lines"},
    {"lts__d_sectors" CARVE_ELAPSED, "its data banks"},
    {"lts__d_sectors_fill_device" CARVE_ELAPSED, "what comes from memory"},
    {"lts__xbar2lts_cycles_active" CARVE_ELAPSED, "requests and stores from the SMs"},
    {"lts__lts2xbar_cycles_active" CARVE_ELAPSED, "loads on their way to the SMs"},
    {"lts__lts2xbar_cycles_active_realtime" CARVE_ELAPSED, "loads on their way to the SMs"},
    {"lts__ltcfabric2ltc_cycles_active" CARVE_ELAPSED, "traffic between its halves"}};
static constexpr llvm::StringLiteral L1Parts[] = {
    "l1tex__data_pipe_lsu_wavefronts" CARVE_ELAPSED,
    "l1tex__data_bank_reads" CARVE_ELAPSED,
    "l1tex__data_bank_writes" CARVE_ELAPSED,
    "l1tex__lsuin_requests" CARVE_ELAPSED,
    "l1tex__f_wavefronts" CARVE_ELAPSED,
    "l1tex__m_l1tex2xbar_req_cycles_active" CARVE_ELAPSED,
    "l1tex__m_xbar2l1tex_throughput" CARVE_ELAPSED};
static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> Pipes[] = {
    {"sm__inst_executed_pipe_fma" CARVE_ACTIVE, "fma"},
    {"sm__inst_executed_pipe_alu" CARVE_ACTIVE, "alu"},
    {"sm__inst_executed_pipe_fp64" CARVE_ACTIVE, "fp64"},
    {"sm__inst_executed_pipe_xu" CARVE_ACTIVE, "xu"},
    {"sm__pipe_tensor_cycles_active" CARVE_ACTIVE, "tensor"}};

llvm::ArrayRef<llvm::StringLiteral> carve::hardwareMetrics() { return Metrics; }

unsigned HardwareRecord::passes() const {
  unsigned Most = 0;
  for (const auto &[Chip, Number] : Passes)
    Most = std::max(Most, Number);
  return Most;
}

bool carve::takeHardwareLine(RecordReader &In, HardwareRecord &Record) {
  return takeRecord<MetricsRecord>(
             In, [&](const MetricsRecord &R) { Record.Passes[R.Chip] = R.Passes; }) ||
         takeRecord<NoMetricRecord>(
             In,
             [&](const NoMetricRecord &R) { Record.Missing[R.Metric] = R.Chip + ": " + R.Why; }) ||
         takeRecord<CountedMetric>(
             In, [&](CountedMetric R) { Record.Counted.push_back(std::move(R)); }) ||
         takeRecord<UnmeasuredRecord>(In, [&](const UnmeasuredRecord &R) {
           Record.Uncounted[R.Place.Kernel].insert(R.Why);
         });
}

std::string carve::printCountWishes(llvm::ArrayRef<CountWish> Wishes, unsigned Pass) {
  std::string Text = headOf(MetricsFile) + "\n" + recordLine(PassRecord{Pass});
  for (llvm::StringRef Metric : Metrics)
    Text += recordLine(MetricRecord{Metric.str()});
  for (const CountWish &W : Wishes)
    Text += recordLine(W);
  return Text;
}

namespace {

/// The means over the launches of one kernel, by metric.
class Means {
public:
  void add(llvm::StringRef Metric, double Value) {
    auto &[Sum, Number] = Sums[Metric.str()];
    Sum += Value;
    ++Number;
    // The duration is part of every pass.
    if (Metric != Duration)
      Launches = std::max(Launches, Number);
  }
  std::optional<double> of(llvm::StringRef Metric) const {
    auto It = Sums.find(Metric.str());
    if (It == Sums.end())
      return std::nullopt;
    return It->second.first / It->second.second;
  }
  /// The mean of a metric in per cent, as a share from 0 to 1. If it is above the peak, the peak is
  /// wrong, so it is limited to 1.
  std::optional<double> share(llvm::StringRef Metric) const {
    std::optional<double> PerCent = of(Metric);
    if (!PerCent)
      return std::nullopt;
    return std::clamp(*PerCent / 100, 0.0, 1.0);
  }
  std::optional<double> largestShare(llvm::ArrayRef<llvm::StringLiteral> Parts) const {
    std::optional<double> Most;
    for (llvm::StringRef Part : Parts)
      if (std::optional<double> Share = share(Part))
        Most = std::max(Most.value_or(0), *Share);
    return Most;
  }
  /// The largest share of metrics with names, and its name.
  std::pair<std::optional<double>, std::string>
  busiest(llvm::ArrayRef<std::pair<llvm::StringLiteral, llvm::StringLiteral>> Parts) const {
    std::pair<std::optional<double>, std::string> Most;
    for (const auto &[Metric, Name] : Parts)
      if (std::optional<double> Share = share(Metric); Share && *Share > Most.first.value_or(-1))
        Most = {Share, Name.str()};
    return Most;
  }
  /// The launches that one pass counted.
  unsigned launches() const { return Launches ? Launches : Sums.begin()->second.second; }

private:
  std::map<std::string, std::pair<double, unsigned>> Sums;
  unsigned Launches = 0;
};

KernelCounters countersOf(const Means &M) {
  KernelCounters C;
  C.Launches = M.launches();
  C.DurationNs = M.of(Duration);
  C.DramShare = M.share(DramThroughput);
  if (!C.DramShare)
    C.DramShare = M.share(DramSectors);
  std::tie(C.L2Share, C.L2Part) = M.busiest(L2Parts);
  C.L1Share = M.largestShare(L1Parts);
  C.SharedShare = M.share("l1tex__data_pipe_lsu_wavefronts_mem_shared" CARVE_ELAPSED);
  C.IssueShare = M.share("smsp__issue_active" CARVE_ACTIVE);
  std::tie(C.PipeShare, C.Pipe) = M.busiest(Pipes);
  C.ActiveWarpsPerSm = M.of("sm__warps_active.avg.per_cycle_active");
  C.DramBytes = M.of("dram__bytes.sum");
  C.L2Bytes = M.of("lts__t_bytes.sum");
  C.Instructions = M.of("smsp__inst_executed.sum");
  auto Loads = M.of("smsp__inst_executed_op_local_ld.sum"),
       Stores = M.of("smsp__inst_executed_op_local_st.sum");
  if (Loads && Stores)
    C.LocalInstructions = *Loads + *Stores;
  return C;
}

} // namespace

std::map<std::string, KernelCounters>
carve::hardwareCounters(llvm::ArrayRef<CountedMetric> Counted,
                        const std::map<std::string, double> &TracedNs) {
  std::map<std::string, Means> SpanNs, ByKernel;
  for (const CountedMetric &C : Counted)
    if (C.IsSpan && C.Metric == Duration)
      SpanNs[C.Kernel].add(Duration, C.Value);
  for (const CountedMetric &C : Counted) {
    double Value = C.Value;
    if (C.IsSpan && C.Metric == Duration)
      continue;
    auto Span = SpanNs.find(C.Kernel);
    auto Own = TracedNs.find(C.Kernel);
    // The kernel did all this work in its own time, which is shorter than the span.
    if (C.IsSpan && llvm::StringRef(C.Metric).ends_with("_elapsed") && Span != SpanNs.end() &&
        Own != TracedNs.end() && Own->second > 0)
      Value *= std::max(1.0, *Span->second.of(Duration) / Own->second);
    ByKernel[C.Kernel].add(C.Metric, Value);
  }
  std::map<std::string, KernelCounters> Result;
  for (const auto &[Kernel, M] : ByKernel)
    Result[Kernel] = countersOf(M);
  return Result;
}
