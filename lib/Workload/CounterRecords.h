/// \file
/// Asks the probe for hardware counters, and reads what it leaves (Protocol/CountRecords.h): the
/// list of metrics, the file that asks for them, the lines of the record, and the KernelCounters
/// made from all runs. ProbeRecords reads the lines; Explain/HardwareCounters makes the runs.
#pragma once

#include "Protocol/CountRecords.h"
#include "Protocol/PlanRecords.h"
#include "Protocol/RecordReader.h"
#include "Workload/KernelCounters.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace carve {

/// What the processes of one run counted.
struct HardwareRecord {
  std::map<std::string, unsigned> Passes; ///< Passes that all metrics together need, by chip.
  std::vector<CountedMetric> Counted;
  std::map<std::string, std::string>
      Missing; ///< Metrics that a chip cannot count, with the reason.
  /// Kernels with a launch that was not counted, with the reasons.
  std::map<std::string, std::set<std::string>> Uncounted;

  /// The most passes that a chip needs; 0 if no chip was asked.
  unsigned passes() const;
};

/// Adds the line \p In of a run with hardware counters to \p Record. Returns false if it is another
/// kind of record.
bool takeHardwareLine(RecordReader &In, HardwareRecord &Record);

/// The metrics that KernelCounters are made from, the most important first.
llvm::ArrayRef<llvm::StringLiteral> hardwareMetrics();

/// The text of the file that asks the probe (`carve-metrics`) for pass number \p Pass of
/// hardwareMetrics(), for the launches in \p Wishes.
std::string printCountWishes(llvm::ArrayRef<CountWish> Wishes, unsigned Pass);

/// The counters of each kernel in \p Counted, as means over its launches. Counters that no pass has
/// counted are absent. \p TracedNs has the time of a launch without counters, in ns, by kernel.
/// Shares of time that were counted over a longer span are converted to this time. The duration of
/// a span is not used, because it is not the kernel's.
std::map<std::string, KernelCounters>
hardwareCounters(llvm::ArrayRef<CountedMetric> Counted,
                 const std::map<std::string, double> &TracedNs);

} // namespace carve
