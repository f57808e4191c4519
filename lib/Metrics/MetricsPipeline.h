/// \file
/// Implements `carve metrics` without its output: reads the arguments, compiles the file if needed,
/// and counts PTX and machine code. It needs no GPU, and for a cubin no nvcc.
#pragma once

#include "Metrics/MetricsReport.h"
#include "Nvcc/Toolchain.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace carve {

/// A trip count from the user: `--trips=KERNEL:LOOP=N`.
struct TripAnnotation {
  /// Mangled, demangled, or demangled without parameters; empty for every kernel.
  std::string Kernel;
  bool IsLine = false; ///< With `L83`, Number is a line.
  unsigned Number = 0;
  double Trips = 0;
};

/// The command as the user gave it.
struct MetricsOptions {
  std::vector<std::string> Archs; ///< If empty, every real architecture in the command.
  /// In threads. If absent, each kernel's own limit, or else 256.
  std::optional<std::array<unsigned, 3>> Block;
  std::array<unsigned, 3> Grid{1, 1, 1};
  unsigned DynamicSmemBytes = 0;
  double AssumedTrips = 16;
  std::vector<TripAnnotation> Trips;
  bool Json = false;
  std::string File;                     ///< Such as `x.cu`, `x.ptx` or `x.cubin`.
  std::vector<std::string> NvccOptions; ///< The options, or the program, after `--`.
  /// Whether the trips are counted in a run of the program after `--` (CountedMetrics.h). The
  /// options below need it. File, Archs and the launch cannot be given with it.
  bool Count = false;
  /// With the names of TripAnnotation; empty for all kernels that matter.
  std::vector<std::string> Kernels;
  double TimeoutS = 600;
  std::string StdinPath = "/dev/null";
};

/// Reads \p Args, the words after `metrics`. Fails with UsageError, which names the actual and the
/// expected.
llvm::Expected<MetricsOptions> parseMetricsOptions(llvm::ArrayRef<std::string> Args);

/// Returns the trip counts that \p Options give for \p Kernel (its mangled name).
TripCounts tripCountsFor(const MetricsOptions &Options, llvm::StringRef Kernel);

/// Whether \p Name means the kernel \p Mangled: its mangled name, its demangled name, or that
/// without parameters.
bool isNameOf(llvm::StringRef Name, llvm::StringRef Mangled);

/// Fails with UsageError if an annotation of \p Options names a kernel or a loop that \p Report
/// does not have. \p Where is what was searched, for the message.
llvm::Error checkAnnotations(const MetricsOptions &Options, const MetricsReport &Report,
                             llvm::StringRef Where);

/// Counts the kernels that \p Options ask for. \p FindTools is called only if nvcc is needed. If
/// machine code cannot be read, the report says why. Fails with UsageError if the file cannot be
/// read, an architecture is unknown, or an annotation names a kernel or a loop that does not exist.
/// Fails with ToolFailure if nvcc fails.
llvm::Expected<MetricsReport> findMetrics(const MetricsOptions &Options,
                                          llvm::function_ref<llvm::Expected<Toolchain>()> FindTools,
                                          CommandRunner &Runner, llvm::StringRef DevicesDir);

} // namespace carve
