#include "Tune/InRun/SharedTiming.h"

#include "Workload/ProbeRecords.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

using namespace carve;

std::vector<size_t> carve::shareKernels(llvm::ArrayRef<double> Cost, size_t Gpus) {
  std::vector<size_t> Order(Cost.size()), GpuOf(Cost.size(), 0);
  std::iota(Order.begin(), Order.end(), size_t(0));
  llvm::stable_sort(Order, [&](size_t A, size_t B) { return Cost[A] > Cost[B]; });
  std::vector<double> Load(std::max<size_t>(1, Gpus), 0);
  for (size_t K : Order) {
    GpuOf[K] = std::min_element(Load.begin(), Load.end()) - Load.begin();
    Load[GpuOf[K]] += Cost[K];
  }
  return GpuOf;
}

TimingRunResult carve::joinTimingRuns(const TuningJob &Job, std::vector<TimingRunResult> Parts,
                                      llvm::ArrayRef<size_t> GpuOf) {
  if (Parts.size() == 1)
    return std::move(Parts.front());
  TimingRunResult All;
  bool AllFailed = llvm::all_of(Parts, [](const TimingRunResult &P) { return !!P.Failure; });
  if (AllFailed)
    All.Failure = Parts.front().Failure;
  for (size_t P = 0; P < Parts.size(); ++P) {
    TimingRunResult &Part = Parts[P];
    All.Runs += Part.Runs;
    All.WallS = std::max(All.WallS, Part.WallS);
    llvm::append_range(All.Reruns, Part.Reruns);
    llvm::append_range(All.Excluded.Faults, Part.Excluded.Faults);
    All.Excluded.Kernels.insert(Part.Excluded.Kernels.begin(), Part.Excluded.Kernels.end());
    for (size_t K = 0; K < GpuOf.size() && Part.Failure && !AllFailed; ++K)
      if (GpuOf[K] == P)
        All.Excluded.Kernels.emplace(Job.Kernels[K].Traced.Kernel, *Part.Failure);
    if (!All.Difference)
      All.Difference = Part.Difference;
    addInRun(All.Record, std::move(Part.Record));
  }
  return All;
}

InRunTuning carve::judgeTimingRuns(const TuningJob &Job, const JobBuild &Built,
                                   std::vector<ModeChoice> Choices,
                                   std::vector<TimingRunResult> Parts, llvm::ArrayRef<size_t> GpuOf,
                                   llvm::ArrayRef<VerifiedVariant> Earlier) {
  if (Parts.size() == 1)
    return judgeTimingRun(Job, Built, std::move(Choices), std::move(Parts.front()), Earlier);
  InRunTuning All = untimed(Job);
  for (size_t P = 0; P < Parts.size(); ++P) {
    InRunTuning Its = judgeTimingRun(Job, Built, Choices, Parts[P], Earlier);
    for (size_t K = 0; K < Job.Kernels.size(); ++K)
      if (GpuOf[K] == P)
        All.Outcomes[K] = std::move(Its.Outcomes[K]);
  }
  All.Choices = std::move(Choices);
  All.Run = joinTimingRuns(Job, std::move(Parts), GpuOf);
  return All;
}
