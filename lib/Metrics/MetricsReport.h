/// \file
/// Holds what `carve metrics` shows: for each kernel and architecture, the static metrics of one
/// launch shape and the counts that they are computed from. MetricsPipeline and CountedMetrics fill
/// it in.
#pragma once

#include "Metrics/Counts/Counts.h"
#include "Support/StayReason.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// One kernel of one architecture.
struct KernelMetrics {
  std::string Kernel; ///< The mangled name.
  std::string Arch;
  LaunchShape Shape;
  StaticMetrics Metrics; ///< From the machine code if it was counted, else from the PTX.
  std::optional<CountedKernel> Ptx, Code;
  std::string CodeReason; ///< Why Code is absent; else empty.
  /// If MetricsReport::Counted is set: the number of threads over which the PTX's counts are means.
  /// Metrics is then computed from the PTX.
  uint64_t CountedThreads = 0;
};

/// The kernels are in the order of the file, first those of one image, then those of the next.
struct MetricsReport {
  std::string NvccVersion; ///< Empty if no tool of the toolkit was needed.
  std::vector<KernelMetrics> Kernels;
  bool Counted = false; ///< Whether trips are from a run of the program.
  /// A kernel without metrics, and why.
  struct LeftOut {
    std::string Kernel;
    StayReason Reason;
  };
  std::vector<LeftOut> Left;         ///< Kernels of the program that were not counted.
  std::vector<std::string> Warnings; ///< What was unusual about the run.
};

/// Returns the report as one JSON object, with the keys always in the same order. Unknown values
/// are null.
std::string printMetricsJson(const MetricsReport &Report);

/// Returns the report as text for a person.
std::string printMetricsText(const MetricsReport &Report);

} // namespace carve
