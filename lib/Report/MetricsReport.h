/// \file
/// What `carve metrics` shows: per kernel and architecture the static metrics of one launch shape,
/// and the counts that they rest on. Made by Driver/MetricsPipeline.h.
#pragma once

#include "Carve/Counts.h"

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
};

/// Kernels in the order of the file, each image's behind one another.
struct MetricsReport {
  std::string NvccVersion; ///< Empty where no tool of nvcc's was needed.
  std::vector<KernelMetrics> Kernels;
};

/// The report as one JSON object, keys always in the same order. What is not known is null.
std::string printMetricsJson(const MetricsReport &Report);

/// The report as a person reads it.
std::string printMetricsText(const MetricsReport &Report);

} // namespace carve
