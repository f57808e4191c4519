/// \file
/// The GPUs of `--gpus`: chooses them before the program is traced, and makes runs on all of them
/// at once (Workload/ChosenGpus, InRun/SharedTiming).
#pragma once

#include "Tune/TuneState.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace carve {

/// Chooses the GPUs that the request asks for, and sets TuneState::Several. Without `--gpus`
/// nothing changes. If only whole runs time the variants, one GPU is used. Fails if `--gpus` cannot
/// be carried out: it names no GPU that there is, leaves none, or several of them could not keep
/// runs apart that write the same file.
llvm::Error chooseTunedGpus(TuneState &State);

/// Shares the kernels of \p Job out to the GPUs by their shares of GPU time, because a round gives
/// each kernel time by its share. They stay there for the whole tuning.
void shareOut(TuneState &State, const TuningJob &Job);

/// Calls \p Run with 0 to \p Gpus - 1, each in a thread of its own if there are several, and
/// returns after all have ended.
void runOnEach(size_t Gpus, llvm::function_ref<void(size_t)> Run);

/// Runs the untouched program on all chosen GPUs at once. Returns the run on the first GPU that is
/// left, after GPUs that are slower than the others were left out. If the program uses several GPUs
/// itself or fails in this way, the state is as without `--gpus` or has one GPU, TuneState::GpuNote
/// says so, and nothing is returned: the program must then be traced by itself. Fails if the
/// program cannot be started or the tuning was interrupted.
llvm::Expected<std::optional<RunRecord>> traceOnSeveral(TuneState &State);

/// The GPU time of each run, in ns, in the launches that all of \p Runs have alike: of the same
/// kernels and shapes, equally often.
std::vector<double> commonNs(llvm::ArrayRef<RunRecord> Runs);

} // namespace carve
