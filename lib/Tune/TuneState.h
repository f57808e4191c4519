/// \file
/// The state that the stages of a tuning (TunePipeline.h) share. Each stage makes runs of the
/// program, or uses recorded samples instead.
#pragma once

#include "Cubin/Cubin.h"
#include "Tune/InRun/InRunTuning.h"
#include "Tune/InRun/ModeChoice.h"
#include "Tune/InRun/RoundBudget.h"
#include "Tune/TunePipeline.h"
#include "Tune/Variants/VariantRounds.h"
#include "Tune/WholeRuns/SampleRecord.h"
#include "Workload/ChosenGpus.h"
#include "Workload/OutputCheck.h"

#include <chrono>
#include <map>
#include <memory>

namespace carve {

/// A GPU of `--gpus`, with its lock.
struct TunedGpu {
  HostGpu Gpu;
  std::unique_ptr<TimedGpus> Lock;
};

/// The share of the budget that is left when the last whole run or the last assembler ends:
/// decisions are stored then.
inline constexpr double ShareAfterRuns = 0.03;

/// What one stage of a tuning leaves for the next stages.
struct TuneState {
  TuneState(const TuneRequest &Request, CommandRunner &Runner);
  TuneState(const TuneState &) = delete; ///< Check refers to this object.

  const TuneRequest &Request;
  CommandRunner &Runner;
  std::chrono::steady_clock::time_point Start;
  std::optional<TimedGpus> Gpus; ///< Absent with recorded samples.
  SharedProgress Progress;       ///< For what runs at once tell.
  /// The GPUs of `--gpus`, on which runs are made at once. The first one makes all other runs.
  /// Empty without the option, and if the program uses several GPUs itself.
  std::vector<TunedGpu> Several;
  std::vector<size_t> GpuOf;     ///< By kernel of the job: its place in Several. May be empty.
  std::vector<LeftGpu> LeftGpus; ///< GPUs of `--gpus` that take no part.
  std::string
      GpuNote; ///< Why runs are not made on several GPUs at once, although `--gpus` says so.
  OutputCheck Check;
  SampleRecord Samples;           ///< The samples that were read, or that are being recorded.
  size_t TimingRuns = 0;          ///< Timing runs taken from recorded samples so far.
  unsigned Runs = 0;              ///< Runs made for the trace and the timing.
  unsigned Traced = 1;            ///< Runs that the trace took.
  double PlainWallS = 0;          ///< Wall time of the traced run; 0 with recorded samples.
  double PlainSpanNs = 0;         ///< Span of its kernels (ProbeRecord::SpanNs); 0: not known.
  std::vector<double> OtherRunsS; ///< What timing runs took without their replays.
  double BudgetS = 0;             ///< Seconds that the tuning may take; 0 if they are not limited.
  GainProspect Prospect;          ///< What the rounds so far have left to gain.
  bool SelectsByRuns = false; ///< Whether the rounds are over, and whole runs screen and confirm.
  /// Whether a fault is first looked for by a run without the kernels whose output varies. Then the
  /// default does not run again to check an output if that would leave no time for such a run.
  bool LeavesVarying = false;
  std::map<size_t, EarlierReplays> Replays; ///< By kernel: what its replays so far have told.
  /// Seconds of replays that the variants of the round were chosen for, before they were compiled;
  /// 0 before the first round.
  double PlannedReplayS = 0;

  /// Whether recorded samples are used instead of the program.
  bool recorded() const { return !Request.SamplesPath.empty(); }
  /// Seconds since the tuning began.
  double seconds() const;
  /// Takes a timing run of \p WallS seconds, \p ReplaysS of them in replays, into account in
  /// runS(). It counts as at least half and at most twice the traced run.
  void noteRun(double WallS, double ReplaysS);
  /// Whether no timing run was made yet, so that the next round is the first.
  bool isFirstRound() const { return Runs <= Traced; }
  /// Seconds that one more run of the program is expected to take: the mean of PlainWallS and
  /// OtherRunsS. The traced run alone tells too much: it is the first one, which finds no file in
  /// memory. The start of a program can also take longer by chance.
  double runS() const;
  /// Sets BudgetS from the request, or else from PlainWallS and the effort. Recorded samples, and
  /// sets of variants that a search is compared with, have no limit but the request's.
  void setBudget();
  /// Seconds of the budget that are left, at least 0; nothing without a budget.
  std::optional<double> secondsLeft() const;
  /// Why the budget has no time for one more run, or nothing if it has. During the rounds, the time
  /// for a confirmation is kept if earlier rounds have found something to confirm, and also if the
  /// run begins another round, which is made to find something.
  std::optional<std::string> whyNoTime(bool BeginsRound = false) const;
  /// Seconds that the next timing run may take beyond a plain run, with compiling for it, after
  /// what the rounds so far have found (RoundBudget::forRound()). It is 0 if nothing is left, and
  /// nothing without a budget. The first timing run always has some.
  std::optional<double> secondsForRound() const;
  /// Seconds that the replays of the next timing run may take (RoundBudget::forReplays()); nothing
  /// without a budget.
  std::optional<double> secondsForReplays() const;
  /// Seconds that the next timing run may take to replay kernels that could otherwise be timed only
  /// by whole runs (RoundBudget::forLongReplays()); nothing without a budget.
  std::optional<double> secondsForLongReplays() const;
  /// The GPUs that a run on place \p Gpu of Several locks and watches; null with recorded samples.
  TimedGpus *gpus(size_t Gpu = 0) {
    return Several.empty() ? Gpus ? &*Gpus : nullptr : Several[Gpu].Lock.get();
  }
  /// The program to run on place \p Gpu of Several. With `--gpus` it sees no other GPU.
  WorkloadSpec workload(size_t Gpu = 0) const;
  /// On how many GPUs timing runs are made at once.
  size_t gpuCount() const { return std::max<size_t>(1, Several.size()); }
  /// The place in Several of the GPU that times kernel number \p Kernel of the job.
  size_t gpuOf(size_t Kernel) const { return Kernel < GpuOf.size() ? GpuOf[Kernel] : 0; }
  /// Whether variants are timed inside the program.
  bool timesInside() const {
    return Request.Mode != ModeRequest::Fixed && Request.Options.Scope == TuningScope::Kernel;
  }
};

} // namespace carve
