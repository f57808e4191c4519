/// \file
/// What is built from a TuningJob: the variants of its kernels, and the images with them. One
/// module per unit holds the variants that are timed together. The rounds (VariantRounds.h) build
/// it, and the timing, the selection and the report read it.
#pragma once

#include "Metrics/Counts/Metrics.h"
#include "Search/Variant.h"
#include "Support/StayReason.h"
#include "Tune/Job/TuningJob.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace carve {

/// One code of a variant that has several, or one that runs only at some launches.
struct GuardedCode {
  KnownLaunch Launch;     ///< What must be true of a launch that runs it.
  VariantSetting Setting; ///< What it is compiled with, for these launches.
  std::string CloneName;
  KernelResources Resources;
  std::string CodeDigest;
};

/// What a variant is made of that has other knobs for launches of other shapes.
struct Composition {
  /// One of its codes.
  struct Code {
    KnownLaunch Launch; ///< What must be true of a launch that runs it, its block at least.
    VariantSetting Setting;

    bool operator==(const Code &) const = default;
  };
  std::string Name;        ///< Such as `r128+r40`; see compositionName().
  std::vector<Code> Codes; ///< A launch runs the first that is for it; empty for no variant.
  /// By how much it is expected to be faster than the best variant so far, as a share of the
  /// kernel's time.
  double Promise = 0;
};

/// The name of a variant with \p Codes: the settings joined by `+`, and `default` at the end if
/// some launches run none of them (\p WithDefault).
std::string compositionName(llvm::ArrayRef<Composition::Code> Codes, bool WithDefault);

/// One version of a kernel, or of a unit with TuningScope::File.
struct JobVariant {
  VariantSetting Setting;
  std::string CloneName;     ///< Name in the module; the default keeps the kernel's name.
  KernelResources Resources; ///< The resources that ptxas reported.
  std::string CodeDigest;
  std::string Cubin; ///< With TuningScope::File, the unit's whole image at this cap.
  /// Whether its clone is in the modules as they are assembled now.
  bool InModule = true;
  StaticMetrics Metrics = {}; ///< Metrics in the launch shape that takes most of the time.
  /// Whether it computes something else than the kernel (Explain/Modified/ModifiedKernel.h). Then
  /// it is never chosen or emitted.
  bool OnlyTimed = false;
  std::string Purpose = {}; ///< What it is timed for, if it is only timed. This is then its name.
  /// If it depends on the launch: its codes. A launch runs the first that is for it, or the default
  /// if there is none. CloneName, Resources and Metrics above are those of the first code, and
  /// CodeDigest has the digests of all.
  std::vector<GuardedCode> Codes = {};
  /// If its codes have settings of their own, its name (Composition). Setting is then the first's.
  std::string Composed = {};
};

/// Whether \p Variant has codes with settings of their own.
inline bool isComposed(const JobVariant &Variant) { return !Variant.Composed.empty(); }

/// Whether \p Variant may be used only if its output was compared with the default's
/// (VariantSetting::needsComparedOutput()).
bool needsComparedOutput(const JobVariant &Variant);

/// Whether a code of \p Variant loads its data so that it is the first to leave the caches, L2
/// included.
bool evictsFirst(const JobVariant &Variant);

/// The name of \p Variant, unless it is the control copy: `default`, its setting, such as `r40`,
/// its composition, or its purpose.
std::string nameOf(const JobVariant &Variant);

/// Whether \p Variant may run only at the launches for which it is compiled. In whole runs, the
/// probe then decides at each launch.
inline bool isDispatched(const JobVariant &Variant) { return !Variant.Codes.empty(); }

/// Sets the members of \p Variant that tell of all its codes, from Codes.
void summarizeCodes(JobVariant &Variant);

/// The names of \p Variants in plans, records and samples: `default`, `control`, and then each
/// variant's nameOf().
std::vector<std::string> namesOf(llvm::ArrayRef<JobVariant> Variants);

/// A setting that was compiled but is not timed.
struct CarvedJobVariant {
  VariantSetting Setting;
  std::string Reason;
  StaticMetrics Metrics;
};

/// What the search of one kernel leaves, as its model expects it.
struct SearchEnd {
  size_t Untried = 0; ///< Settings that promise LeastPromise or more.
  double Promise = 0; ///< The largest of their expected gains, as a share of the kernel's time.
  /// The cap beyond the launch domain that promises most, and its expected gain; 0 if none promises
  /// LeastForbiddenPromise.
  unsigned ForbiddenCap = 0;
  double ForbiddenPromise = 0;
};

/// Less than this is not worth a word: the model knows little of caps that were not timed.
inline constexpr double LeastForbiddenPromise = 0.005;

/// The variants of one kernel of the job.
struct KernelBuild {
  /// The resources of nvcc's code. In a device link, nvlink decides on the registers.
  KernelResources Default;
  /// The most registers that a variant may have; 0 if this is not known yet.
  unsigned LaunchableRegs = 0;
  /// The most registers that the launch domain allows the kernel's first entry. A variant with more
  /// of them becomes a further entry.
  unsigned FirstEntryRegs = 0;
  /// The block size, in threads, that the kernel is bound to with spilling to shared memory if it
  /// has no bound of its own.
  unsigned SmemSpillingThreads = 0;
  /// Variant 0 is the default and 1 its control copy. Only used with TuningScope::Kernel.
  std::vector<JobVariant> Variants;
  std::vector<std::string> Dropped; ///< Settings that are not tried, each with its reason.
  std::vector<CarvedJobVariant> Carved;
  unsigned Compiled = 0; ///< Settings that were compiled, without the default.
  /// Critical points that the launch domain forbids.
  std::vector<unsigned> BeyondDomain;
  SearchEnd End;
  StayReason LeftReason; ///< Why the kernel is not tuned after all; empty if it is tuned.

  /// The number of its clones in the modules as they are assembled now, with the default and the
  /// control. It is 0 if the kernel takes no part in the round.
  size_t timedTogether() const;
};

/// The images of one module of the job.
struct ModuleBuild {
  /// The multi-version image with TuningScope::Kernel, else the default image. For a relocatable
  /// unit, it is an input of nvlink and not an image that the program loads.
  std::string Cubin;
  /// Only used with TuningScope::File: 0 is the default and 1 the same image again.
  std::vector<JobVariant> FileVariants;
};

/// One image of one device link (-rdc=true), with the clones of all its units.
struct JobLink {
  DeviceLink Source;
  LinkedImage Image;
  std::vector<size_t> Modules; ///< The job's modules that are linked into it.
  std::string Cubin;           ///< The linked multi-version image.
};

/// Everything that is built from one job.
struct JobBuild {
  JobBuild() = default;
  /// Nothing of \p Job is built yet.
  explicit JobBuild(const TuningJob &Job);

  /// Whether kernels of \p Module have clones in the modules as they are assembled now.
  bool times(const JobModule &Module) const;

  std::vector<KernelBuild> Kernels; ///< In the order of TuningJob::Kernels.
  std::vector<ModuleBuild> Modules; ///< In the order of TuningJob::Modules.
  std::vector<JobLink> Links;
};

} // namespace carve
