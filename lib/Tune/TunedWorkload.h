/// \file
/// The record of a workload that was tuned: the command or the captures, and which kernels were
/// decided with it. A tuning writes it into the store beside its decisions, and `carve recheck`
/// reads it, so that it can time the decisions of a whole store again. No other record names a
/// program to run, so this one is never published, and never read from a site's store.
#pragma once

#include "Device/CriticalPoints.h"
#include "Nvcc/Toolchain.h"
#include "Store/UnitStore.h"
#include "Workload/Workload.h"

#include <optional>

namespace carve {

/// A file that a workload consists of.
struct WorkloadFile {
  std::string Path;   ///< Absolute.
  std::string Digest; ///< Of its content; of a capture, of the index, which has all other digests.
};

/// A kernel on which a tuning of the workload decided.
struct WorkloadKernel {
  std::string Unit;    ///< The key of its unit.
  std::string Kernel;  ///< Its name, as a decision has it.
  std::string Mangled; ///< Its mangled name.
  double GpuNs = 0;    ///< Its GPU time in one run of the workload.
};

/// A workload as it was when it was tuned last.
struct TunedWorkload {
  std::string Date;                    ///< ISO 8601, UTC.
  std::string Directory;               ///< The working folder, absolute.
  std::vector<std::string> Argv;       ///< The command; empty if captures were tuned.
  std::vector<WorkloadFile> Captures;  ///< Empty if a command was tuned.
  std::optional<WorkloadFile> Program; ///< Absent if no file has the command's name.
  std::string StdinPath = "/dev/null"; ///< Absolute.
  std::vector<std::string> OutputFiles;
  std::vector<std::string> Environment; ///< As workloadEnvironment() returns it.
  double TimeoutS = 600;
  LaunchDomain Domain = LaunchDomain::Preserve;
  std::vector<WorkloadKernel> Kernels;

  /// Returns the command, or the names of the captures, for messages.
  std::string text() const;
};

/// Returns those variables that decide which program and libraries run and how, as
/// WorkloadSpec::Environment has them: `NAME=value`, or `NAME` if \p Env does not set it. Variables
/// that are different in each job, such as CUDA_VISIBLE_DEVICES, are not among them.
std::vector<std::string> workloadEnvironment(GetEnv Env);

/// Returns the record of the command \p Spec, without kernels. The command is sought as a run of
/// it would be.
TunedWorkload commandWorkload(const WorkloadSpec &Spec);
/// Returns the record of the captures \p Files, which are relative to \p Dir (empty for the
/// caller's working folder), without kernels. Fails if one of them cannot be read.
llvm::Expected<TunedWorkload> capturesWorkload(llvm::ArrayRef<std::string> Files,
                                               llvm::StringRef Dir);

/// Writes \p New into \p Store, unless it has no kernels. Kernels that an earlier tuning of the
/// same workload decided stay in the record. A failure is logged.
void rememberWorkload(TunedWorkload New, UnitStore &Store);
/// Returns the workloads of \p Store, the one that was tuned last first. A record that cannot be
/// read is logged.
std::vector<TunedWorkload> tunedWorkloads(const UnitStore &Store);

/// Returns why \p W cannot be run as it was: its folder or program is gone, or a capture is gone or
/// has another content. Returns an empty text if it can be run.
std::string whyGone(const TunedWorkload &W);
/// Returns how the program of \p W differs from the one that was tuned, as after every build;
/// empty if it is the same, or if it is not known.
std::string programChange(const TunedWorkload &W);

} // namespace carve
