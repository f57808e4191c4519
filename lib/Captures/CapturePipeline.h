/// \file
/// From a command to capture files: one traced run to find the hot kernels and their dominating
/// shapes, one run in which the probe captures them, and one file per captured launch.
#pragma once

#include "Captures/File/RawCapture.h"
#include "Store/UnitStore.h"
#include "Tune/Job/TuningJob.h"
#include "Workload/Workload.h"

#include <string>
#include <vector>

namespace carve {

struct CaptureRequest {
  WorkloadSpec Workload;
  ProbeSetup Probe;
  std::string Directory = ".";
  std::string KernelPattern; ///< Regular expression on the demangled name; empty: every kernel.
  unsigned Launches = 1;     ///< Per kernel, spread over its launches of one shape.
  double LeastShare = 0.01;  ///< Of GPU time, below which a kernel is left alone.
};

/// What became of one launch that was to be captured.
struct CaptureOutcome {
  CaptureWish Wish;
  std::string Path;   ///< Of the file; empty where there is none.
  std::string Reason; ///< Why there is none.
  uint64_t FileBytes = 0, MemoryBytes = 0;
  bool Tunable = false; ///< The store has the kernel's unit.
};

struct CaptureResult {
  std::vector<CaptureOutcome> Launches;
  std::string Note; ///< Why nothing could be captured; else empty.
};

/// The launches to capture, by falling share of GPU time: of each kernel those with the shape that
/// takes most of its time. A process has \p Trace's launches divided by its processes.
std::vector<CaptureWish> chooseLaunches(const ProbeRecord &Trace, const CaptureRequest &Request,
                                        const llvm::function_ref<bool(llvm::StringRef)> Wanted);

/// `scale-128x2-256`, of kernel, grid and block; characters that are awkward in file names are
/// left out.
std::string captureName(const CaptureWish &Wish);

/// Captures. A program that cannot be traced is a note in the result. Fails where the request
/// cannot be carried out, or a file cannot be written.
llvm::Expected<CaptureResult> capture(const CaptureRequest &Request, const UnitStore &Store,
                                      CommandRunner &Runner);

} // namespace carve
