#include "Tune/InRun/TimingRun.h"

#include "Support/Error.h"
#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"

using namespace carve;

namespace {

class TimingRun {
public:
  TimingRun(ProgressDisplay &Progress, const TimingRunLimits &Limits)
      : Progress(Progress), Limits(Limits) {}

  llvm::Expected<TimingRunResult> make(PlanFunction Plan, PlannedRunFunction Run,
                                       OutputCheck *Check);

private:
  bool isNew(const VariantFault &F) const;
  std::vector<VariantFault> newFaults(const InRunRecord &Record) const;
  void exclude(const VariantFault &F);
  bool giveUp();
  llvm::Error judge(RunRecord Run, OutputCheck *Check);

  ProgressDisplay &Progress;
  const TimingRunLimits &Limits;
  TimingRunResult Result;
};

bool TimingRun::isNew(const VariantFault &F) const {
  return !Result.Excluded.Kernels.count(F.Kernel) &&
         llvm::none_of(Result.Excluded.Faults, [&](const VariantFault &Old) {
           return Old.Kernel == F.Kernel && Old.Variant == F.Variant;
         });
}

/// The faults of \p Record that no earlier run had. Recorded samples repeat the faults of earlier
/// runs; these are not new.
std::vector<VariantFault> TimingRun::newFaults(const InRunRecord &Record) const {
  std::vector<VariantFault> New;
  llvm::copy_if(Record.Faults, std::back_inserter(New),
                [&](const VariantFault &F) { return isNew(F); });
  return New;
}

void TimingRun::exclude(const VariantFault &F) {
  if (!isNew(F)) // Another process of the same run had it, too.
    return;
  std::vector<VariantFault> &Faults = Result.Excluded.Faults;
  Faults.push_back(F);
  std::string What = F.Variant == DefaultVariant   ? "the default of "
                     : F.Variant == ControlVariant ? "the control copy of "
                                                   : "variant " + F.Variant + " of ";
  std::string Text = What + llvm::demangle(F.Kernel) + " ended the timing run: " + F.Why;
  logLine(Text);
  Result.Reruns.push_back(Text);
  size_t OfKernel =
      llvm::count_if(Faults, [&](const VariantFault &Old) { return Old.Kernel == F.Kernel; });
  if (isReference(F.Variant) || OfKernel >= Limits.FaultsOfAKernel)
    Result.Excluded.Kernels[F.Kernel] = What + "it ended a timing run: " + F.Why;
}

/// Whether no other run follows one that a variant ended. Then sets the failure.
bool TimingRun::giveUp() {
  std::optional<std::string> Why = Limits.WhyNoMore(Result.Runs);
  if (Result.Runs > Limits.MostReruns)
    Why = "this happened " + llvm::utostr(Result.Runs) + " times";
  if (!Why)
    return false;
  Result.Failure = Result.Reruns.back() + "; not repeated: " + *Why;
  Result.Record.Faults = Result.Excluded.Faults;
  return true;
}

/// Whether the output of \p Run may be compared later. That of a run without rotated kernels must
/// be the default's. That of others may wait if times alone differ: the default's own times usually
/// differ, too, as later runs of it will show.
static bool mayWait(const RunRecord &Run, OutputCheck &Check) {
  if (!Run.succeeded())
    return false;
  return Run.Probe.InRun.Rotated.empty() ||
         (!Run.Probe.whyIncomplete() && Check.asksForTimes(Run.Output));
}

/// Takes what counts from \p Run, which had no new fault.
llvm::Error TimingRun::judge(RunRecord Run, OutputCheck *Check) {
  Result.WallS = Run.WallS;
  Result.Processes = Run.Probe.Processes;
  if (Run.TimedOut)
    Result.Failure = "the timing run took too long";
  else if (!Run.Probe.Unswapped.empty())
    Result.Failure = "an image could not be replaced: " + Run.Probe.Unswapped.begin()->second;
  else if (Check && Limits.OutputWaits && mayWait(Run, *Check))
    Check->keep(Run.Output,
                Run.Probe.InRun.Rotated.empty() ? MemoryOfRun::Same : MemoryOfRun::NotCompared);
  else if (Check) {
    auto Difference = Check->difference(Run.Output);
    if (!Difference)
      return Difference.takeError();
    Result.Difference = std::move(*Difference);
  }
  // If the program fails in another way than with the default, it did not reach its end.
  if (!Result.Failure && Result.Difference && !Run.succeeded())
    Result.Failure = *Result.Difference;
  if (!Result.Failure)
    Result.Failure = Run.Probe.whyIncomplete();
  if (!Result.Failure)
    Result.Record = std::move(Run.Probe.InRun);
  else // Its times do not count, but the verdicts on what variants wrote do.
    Result.Record.Verified = std::move(Run.Probe.InRun.Verified);
  Result.Record.Faults = Result.Excluded.Faults;
  return llvm::Error::success();
}

llvm::Expected<TimingRunResult> TimingRun::make(PlanFunction Plan, PlannedRunFunction Run,
                                                OutputCheck *Check) {
  while (true) {
    std::string Text = Plan(Result.Excluded);
    if (Text.empty()) {
      Result.Record.Faults = Result.Excluded.Faults;
      return std::move(Result);
    }
    llvm::Expected<RunRecord> Made = Run(Text);
    if (!Made)
      return Made.takeError();
    ++Result.Runs;
    if (Made->Interrupted)
      return interrupted(Made->Interrupted);
    std::vector<VariantFault> New = newFaults(Made->Probe.InRun);
    if (New.empty()) {
      if (llvm::Error E = judge(std::move(*Made), Check))
        return E;
      return std::move(Result);
    }
    for (const VariantFault &F : New)
      exclude(F);
    if (giveUp())
      return std::move(Result);
    Progress.note("timing again: " + Result.Reruns.back());
  }
}

} // namespace

llvm::Expected<TimingRunResult> carve::timeInRun(PlanFunction Plan, PlannedRunFunction Run,
                                                 OutputCheck *Check, ProgressDisplay &Progress,
                                                 const TimingRunLimits &Limits) {
  return TimingRun(Progress, Limits).make(Plan, Run, Check);
}
