/// \file
/// `carve metrics` without its output: reads the words of the command, compiles the file where that
/// is needed, counts PTX and machine code. Needs no GPU, and for a cubin no nvcc.
#pragma once

#include "Metrics/MetricsReport.h"
#include "Nvcc/Toolchain.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace carve {

/// `--trips=KERNEL:LOOP=N`
struct TripAnnotation {
  std::string Kernel;  ///< Mangled, demangled, or demangled without parameters; empty: every one.
  bool IsLine = false; ///< `L83`: Number is a line.
  unsigned Number = 0;
  double Trips = 0;
};

/// The command as the user gave it.
struct MetricsOptions {
  std::vector<std::string> Archs;               ///< Empty: every real architecture of the command.
  std::optional<std::array<unsigned, 3>> Block; ///< Absent: each kernel's own bound, else 256.
  std::array<unsigned, 3> Grid{1, 1, 1};
  unsigned DynamicSmemBytes = 0;
  double AssumedTrips = 16;
  std::vector<TripAnnotation> Trips;
  bool Json = false;
  std::string File;                     ///< `x.cu`, `x.ptx` or `x.cubin`.
  std::vector<std::string> NvccOptions; ///< What stood behind `--`.
  /// The trips are counted in a run of the program that stands behind `--` (CountedMetrics.h); what
  /// follows goes with it alone, and File, Archs and the launch without it.
  bool Count = false;
  std::vector<std::string> Kernels; ///< Named as for TripAnnotation; empty: all that matter.
  double TimeoutS = 600;
  std::string StdinPath = "/dev/null";
};

/// Reads the words after `metrics`. Fails with UsageError naming the actual and the expected.
llvm::Expected<MetricsOptions> parseMetricsOptions(llvm::ArrayRef<std::string> Args);

/// The trip counts that \p Options give for \p Kernel (mangled).
TripCounts tripCountsFor(const MetricsOptions &Options, llvm::StringRef Kernel);

/// Whether \p Name is the kernel \p Mangled: mangled, demangled, or demangled without parameters.
bool isNameOf(llvm::StringRef Name, llvm::StringRef Mangled);

/// Fails with UsageError where an annotation of \p Options is of a kernel or loop that \p Report
/// has not;
/// \p Where: in what it was looked for.
llvm::Error checkAnnotations(const MetricsOptions &Options, const MetricsReport &Report,
                             llvm::StringRef Where);

/// Counts the kernels that \p Options ask for. \p FindTools is called where nvcc is needed. Machine
/// code that cannot be read is a reason in the report. Fails with UsageError where the file cannot
/// be read, an architecture is unknown, or an annotation is of a kernel that is not there, and with
/// ToolFailure where nvcc fails.
llvm::Expected<MetricsReport> findMetrics(const MetricsOptions &Options,
                                          llvm::function_ref<llvm::Expected<Toolchain>()> FindTools,
                                          CommandRunner &Runner, llvm::StringRef DevicesDir);

} // namespace carve
