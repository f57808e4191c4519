/// \file
/// Chooses how each kernel of a job is timed: inside one run of the program, by replaying launches
/// or by rotating variants through them, or by whole runs. The choice is made between the trace and
/// the timing run, from the traced launches and the kernels' PTX. share/doc/timing.md explains the
/// rules.
#pragma once

#include "Protocol/PlanRecords.h"
#include "Tune/InRun/RoundBudget.h"
#include "Tune/InRun/TimedShapes.h"
#include "Tune/Job/JobBuild.h"

#include <map>
#include <string>
#include <vector>

namespace carve {

/// The name of \p Mode in plans and reports, such as `replay`.
inline llvm::StringRef nameOf(TimingMode Mode) { return wordOf(Mode); }

/// The mode that the user asks for with `--mode`.
enum class ModeRequest { Auto, Fixed, Rotate, Replay };

/// What limits the choice.
struct ModeLimits {
  ModeRequest Request = ModeRequest::Auto;
  /// The time for the shortest useful replays of all kernels, in seconds of one process. A kernel
  /// whose replays do not fit into the time that is left is timed in another way.
  double ReplayS = 60;
  /// The time for the replays of kernels that could otherwise be timed only by whole runs.
  double LongReplayS = 0;
  /// The time beyond ReplayS for the replays of kernels that would otherwise be rotated. Rotated
  /// variants compute the program's results: if its output depends on time, which looks the same as
  /// a fault, that takes another run to tell.
  double BeyondS = 0;
  double WholeRunS = 0; ///< Seconds of one whole run.
};

/// How one kernel is timed.
struct ModeChoice {
  TimingMode Mode = TimingMode::Fixed;
  std::string Reason; ///< One clause for the report, such as `12000 launches of 4 us`.
  /// Whether there are enough launches to rotate if the probe finds that it cannot replay.
  bool MayRotate = false;
  /// The shapes that are timed, those with most time or representatives. Other shapes run the
  /// default. It is empty with TimingMode::Fixed.
  std::vector<TimedShape> Shapes;
  double ReplayS = 0; ///< The least time that replaying takes, in seconds.
  /// Whether outputs are compared in a replay and times are taken by rotation, because a replay for
  /// both would take too long.
  bool OnlyCompared = false;
};

/// What earlier timing runs have told of a kernel's replays.
struct EarlierReplays {
  /// Whether its default took another time in them than in the program (MostReplayDistance). If it
  /// is launched often enough, its variants are then timed as they run in the program.
  bool Unlike = false;
  /// Whether the probe could not replay it. Then segments are of no use: it may be rotated.
  bool StoodBack = false;
  /// Whether the last one of them timed its variants. Then it is not rotated for want of time: what
  /// is left over is not timed.
  bool Timed = false;
  ReplayCosts Costs;
};

/// What the choice for one kernel depends on.
struct ModeQuestion {
  const TracedKernel &Traced;
  const KernelHazards &Hazards;
  size_t Variants = 0; ///< The number of variants, including the default and its control copy.
  const ProbeRecord &Trace;
  bool DeviceHeap = false; ///< Whether some kernel of the program allocates on the device.
  EarlierReplays Earlier = {};
};

/// Replays whose default is further off its traced time than this share are unlike the program.
inline constexpr double MostReplayDistance = 0.05;

/// The choice for one kernel.
ModeChoice chooseMode(const ModeQuestion &Question, const ModeLimits &Limits);

/// How many variants of a kernel, at most \p Most and without the default and its control copy, a
/// timing run can time within \p Limits. Question.Variants is not used. Representatives are fewer
/// rather than the variants too few to search among. Returns 0 if only whole runs can time them.
size_t timableVariants(ModeQuestion Question, const ModeLimits &Limits, size_t Most);

/// Returns whether a timing run would compare the outputs of the kernel's variants, if time allows
/// it. Question.Variants is not used.
bool mayCompareOutputs(ModeQuestion Question, const ModeLimits &Limits);

/// The choice for each kernel of \p Job, in the order of the job. \p Trace is the trace that the
/// job was made from. Only variants that are in the modules of \p Built (JobVariant::InModule)
/// count. Each kernel that is replayed takes its time from ModeLimits::ReplayS, in the order of the
/// job. What is left over then gives kernels with few representatives more of them. If several GPUs
/// time the kernels, \p GpuOf has the GPU of each kernel, and each GPU has that time. \p Earlier
/// has what earlier replays told, by kernel.
std::vector<ModeChoice> chooseModes(const TuningJob &Job, const JobBuild &Built,
                                    const ProbeRecord &Trace, const ModeLimits &Limits,
                                    llvm::ArrayRef<size_t> GpuOf = {},
                                    const std::map<size_t, EarlierReplays> &Earlier = {});

} // namespace carve
