/// \file
/// How each kernel of a job is timed: inside one run of the program, by replaying launches or by
/// rotating variants through them, or by whole runs. Decided between the trace and the timing run,
/// from what was traced and from the kernels' PTX; share/doc/timing.md explains the rules.
#pragma once

#include "Protocol/PlanRecords.h"
#include "Tune/Job/TuningJob.h"

#include <string>
#include <vector>

namespace carve {

/// `replay`, as plans and reports write it.
inline llvm::StringRef nameOf(TimingMode Mode) { return wordOf(Mode); }

/// What the user asks for (`--mode`).
enum class ModeRequest { Auto, Fixed, Rotate, Replay };

struct ModeLimits {
  ModeRequest Request = ModeRequest::Auto;
  /// For the shortest useful replays of all kernels, in seconds of one process. A kernel that does
  /// not fit in what is left is timed in another way.
  double ReplayS = 60;
};

/// A launch shape that is timed.
struct TimedShape {
  LaunchShape Shape;
  uint64_t Launches = 0; ///< In the traced run, over all processes.
  unsigned Processes = 1;
  double MeanNs = 0;
  double totalNs() const { return double(Launches) * MeanNs; }
};

struct ModeChoice {
  TimingMode Mode = TimingMode::Fixed;
  std::string Reason; ///< One clause, for the report: `12000 launches of 4 us`.
  /// There are launches enough to rotate where the probe finds that it cannot replay.
  bool MayRotate = false;
  /// Those that make up most of the kernel's time, by falling time; other shapes run the default.
  /// Empty with TimingMode::Fixed.
  std::vector<TimedShape> Shapes;
  double ReplayS = 0; ///< What replaying takes at least, in seconds.
};

/// What is known of one kernel.
struct ModeQuestion {
  const TracedKernel &Traced;
  const KernelHazards &Hazards;
  size_t Variants = 0; ///< The default and its control copy included.
  const ProbeRecord &Trace;
  bool DeviceHeap = false; ///< Some kernel of the program allocates on the device.
};

/// The shapes of \p Kernel that make up 95 % of its time, at most eight, by falling time. Launches
/// that the probe could not tell apart (grid 0,0,0) are in none.
std::vector<TimedShape> timedShapes(const TracedKernel &Kernel);

/// The choice for one kernel.
ModeChoice chooseMode(const ModeQuestion &Question, const ModeLimits &Limits);

/// The choice for each kernel of \p Job, which \p Trace was made into, with its variants that are
/// marked (JobVariant::InModule). Kernels take from
/// ModeLimits::ReplayS in the order of the job.
std::vector<ModeChoice> chooseModes(const TuningJob &Job, const ProbeRecord &Trace,
                                    const ModeLimits &Limits);

} // namespace carve
