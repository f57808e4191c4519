/// \file
/// What a run with hardware counters is asked for and what it leaves (Protocol/CountRecords.h): the
/// list of metrics, the probe's file of wishes, its lines, and from all runs the KernelCounters.
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

/// What the processes of one run have counted.
struct HardwareRecord {
  std::map<std::string, unsigned> Passes; ///< That all metrics take, by chip.
  std::vector<CountedMetric> Counted;
  std::map<std::string, std::string> Missing; ///< Metrics that a chip cannot count, and why.
  /// Kernels of which a launch was not counted, and why.
  std::map<std::string, std::set<std::string>> Uncounted;

  /// The most that a chip takes; 0 where none was asked.
  unsigned passes() const;
};

/// Takes a line of such a run. False if \p In is another record.
bool takeHardwareLine(RecordReader &In, HardwareRecord &Record);

/// The metrics that KernelCounters are made of, most important first.
llvm::ArrayRef<llvm::StringLiteral> hardwareMetrics();

/// The file for the probe (`carve-metrics`): one pass of hardwareMetrics().
std::string printCountWishes(llvm::ArrayRef<CountWish> Wishes, unsigned Pass);

/// The counters of each kernel in \p Counted, means over its launches; what no pass has counted is
/// absent. \p TracedNs: of each kernel, a launch's time without counters. Metrics of spans are
/// related to it, as far as they are shares of the time; a span's own duration tells nothing.
std::map<std::string, KernelCounters>
hardwareCounters(llvm::ArrayRef<CountedMetric> Counted,
                 const std::map<std::string, double> &TracedNs);

} // namespace carve
