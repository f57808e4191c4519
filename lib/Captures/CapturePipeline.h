/// \file
/// Makes capture files of a command: one traced run finds the hot kernels and the launch shapes
/// that take most of their time, one run lets the probe capture launches, and each captured launch
/// is packed into a file (File/CaptureFile.h). CaptureCommand prints the result.
#pragma once

#include "Captures/File/RawCapture.h"
#include "Store/UnitStore.h"
#include "Tune/Job/TuningJob.h"
#include "Workload/Workload.h"

#include <string>
#include <vector>

namespace carve {

/// What to capture.
struct CaptureRequest {
  WorkloadSpec Workload;
  ProbeSetup Probe;
  std::string Directory = ".";
  /// A regular expression on the demangled name; empty for every kernel.
  std::string KernelPattern;
  /// The number of launches per kernel, spread over its launches of one shape.
  unsigned Launches = 1;
  double LeastShare = 0.01; ///< A kernel with a smaller share of GPU time is not captured.
};

/// What became of one launch that was to be captured.
struct CaptureOutcome {
  CaptureWish Wish;
  std::string Path;   ///< The path of the capture; empty if there is none.
  std::string Reason; ///< Why there is no capture.
  uint64_t FileBytes = 0, MemoryBytes = 0;
  /// True if the store has the kernel's unit, so that the capture can be tuned.
  bool Tunable = false;
};

/// What became of all launches.
struct CaptureResult {
  std::vector<CaptureOutcome> Launches;
  std::string Note; ///< Why nothing could be captured; otherwise empty.
};

/// Returns the launches to capture, by falling share of GPU time. For each kernel that \p Wanted
/// accepts, these are launches with the shape that takes most of its time. Every process is assumed
/// to make an equal part of the launches in \p Trace.
std::vector<CaptureWish> chooseLaunches(const ProbeRecord &Trace, const CaptureRequest &Request,
                                        const llvm::function_ref<bool(llvm::StringRef)> Wanted);

/// Returns the start of a file's name made from kernel, grid and block, for example
/// `scale-128x2-256`. Characters that are awkward in file names are left out.
std::string captureName(const CaptureWish &Wish);

/// Captures what \p Request asks for. A program that cannot be traced is a note in the result.
/// Fails if the request cannot be carried out, if a file cannot be written, or with Interrupted if
/// a signal ends it.
llvm::Expected<CaptureResult> capture(const CaptureRequest &Request, const UnitStore &Store,
                                      CommandRunner &Runner);

} // namespace carve
