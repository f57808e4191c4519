/// \file
/// The job that a tuning makes of a recorded trace, for tests of what is built from it.
#pragma once

#include "Store/UnitStore.h"
#include "Tune/Job/JobParts.h"
#include "Tune/Job/TuningJob.h"

#include "llvm/ADT/StringRef.h"

namespace carve {

/// A job with the least effort, and all that its variants are made from. Its parts refer to each
/// other, so it stays where it is.
struct RecordedJob {
  /// Makes the job of the trace in the lines of \p Samples that begin with `probe`, from all units
  /// of \p Recorded. What fails is a failure of the test, and the job is then empty. \p LeftS is
  /// JobContext::LeftS.
  RecordedJob(llvm::StringRef Samples, UnitStore Recorded, const Toolchain &T,
              CommandRunner &Runner, std::function<std::optional<double>()> LeftS = {});
  RecordedJob(const RecordedJob &) = delete;
  RecordedJob &operator=(const RecordedJob &) = delete;

  UnitStore Store;
  TuningOptions Options;
  JobContext Context;
  JobSources Sources;
  TuningJob Job;
};

} // namespace carve
