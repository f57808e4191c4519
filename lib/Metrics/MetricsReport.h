/// \file
/// What `carve metrics` shows: per kernel and architecture the static metrics of one launch shape,
/// and the counts that they rest on. Made by Metrics/MetricsPipeline.h and
/// Metrics/CountedMetrics.h.
#pragma once

#include "Metrics/Counts/Counts.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// One kernel of one architecture.
struct KernelMetrics {
  std::string Kernel; ///< Mangled.
  std::string Arch;
  LaunchShape Shape;
  StaticMetrics Metrics; ///< Of the machine code's counts, else of the PTX's.
  std::optional<CountedKernel> Ptx, Code;
  std::string CodeReason; ///< Why Code is absent.
  /// With MetricsReport::Counted: threads over which the PTX's counts are means. Metrics are then
  /// of the PTX.
  uint64_t CountedThreads = 0;
};

/// Kernels in the order of the file, each image's behind one another.
struct MetricsReport {
  std::string NvccVersion; ///< Empty where no tool of nvcc's was needed.
  std::vector<KernelMetrics> Kernels;
  bool Counted = false; ///< Trips are from a run of the program.
  struct LeftOut {
    std::string Kernel, Reason;
  };
  std::vector<LeftOut> Left;         ///< Kernels of the program that were not counted.
  std::vector<std::string> Warnings; ///< What was odd about the run.
};

/// The report as one JSON object, keys always in the same order. What is not known is null.
std::string printMetricsJson(const MetricsReport &Report);

/// The report as a person reads it.
std::string printMetricsText(const MetricsReport &Report);

} // namespace carve
