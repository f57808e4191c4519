/// \file
/// What is to be timed: made from the trace of a workload and the units of the store. The kernels
/// that matter with their register regions; their variants come in rounds (VariantRounds.h), and
/// per unit one module holds those that are timed together.
#pragma once

#include "Ptx/KernelHazards.h"
#include "Store/Profile.h"
#include "Store/UnitStore.h"
#include "Tune/Job/TuningOptions.h"
#include "Workload/ProbeRecords.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// One version of a kernel, or with TuningScope::File of a unit.
struct JobVariant {
  VariantSetting Setting;
  std::string CloneName;     ///< Name in the module; the kernel's own for the default.
  KernelResources Resources; ///< As ptxas reported them.
  std::string CodeDigest;
  std::string Cubin; ///< TuningScope::File: the unit's whole image at this cap.
  /// Its clone is in the modules as they are assembled now.
  bool InModule = true;
  StaticMetrics Metrics = {}; ///< In the launch shape that takes most of the time.
  /// It computes something else than the kernel (Explain/Modified/ModifiedKernel.h): never chosen
  /// or emitted.
  bool OnlyTimed = false;
  std::string Purpose = {}; ///< If it is only timed: what for, by which it is known.
};

/// The names of \p Variants, by which plans, records and samples know them: `default`, `control`,
/// then what is set or what a variant is timed for.
std::vector<std::string> namesOf(llvm::ArrayRef<JobVariant> Variants);

/// A setting that was compiled and is not timed.
struct CarvedJobVariant {
  VariantSetting Setting;
  std::string Reason;
  StaticMetrics Metrics;
};

/// A kernel with its place in the program.
struct TracedKernel {
  std::string Kernel; ///< Mangled.
  double Share = 0;   ///< Of the GPU time of the traced run.
  uint64_t Launches = 0;
  std::vector<KernelLaunches> Shapes;
};

/// A kernel that is not tuned, and why.
struct LeftKernel {
  TracedKernel Traced;
  std::string Reason;
  unsigned DefaultRegs = 0;
};

/// A kernel to tune; with TuningScope::File, one of those that a subject is measured by.
struct JobKernel {
  TracedKernel Traced;
  std::vector<size_t> Modules; ///< Of the job, that hold it.
  RegisterRegion Region;
  /// The most registers with which the launch domain is kept; 0: not known yet.
  unsigned LaunchableRegs = 0;
  /// The bound of its block that it gets with spilling to shared memory where it has none.
  unsigned SmemSpillingThreads = 0;
  std::string KernelDigest; ///< PtxModule::kernelDigest.
  KernelHazards Hazards;
  std::vector<JobVariant>
      Variants; ///< 0 the default, 1 its control copy. TuningScope::Kernel only.
  std::vector<std::string> Dropped; ///< Settings not tried, each with its reason.
  std::vector<CarvedJobVariant> Carved;
  unsigned Compiled = 0; ///< Settings that were compiled, the default not counted.
  /// Why it is not tuned after all, e.g. `device-link-failed`; empty: it is.
  std::string LeftReason;

  /// Clones in the modules as they are assembled now, default and control counted; 0 where it has
  /// none there.
  size_t timedTogether() const;
};

/// The launch shape that takes most of \p Kernel 's time.
const LaunchShape &heaviestShape(const TracedKernel &Kernel);

/// One image of one unit, with the clones in it.
struct JobModule {
  Unit Source;
  std::vector<Unit> Twins; ///< Other units of the store with the same PTX and options.
  UnitImage Image;         ///< The stored one, or derived for a device that it has none for.
  /// TuningScope::Kernel: multi-version; else the default. Of a relocatable unit it is what nvlink
  /// takes, and no image that is loaded.
  std::string Cubin;
  std::vector<size_t> Kernels;          ///< Of the job.
  std::vector<JobVariant> FileVariants; ///< TuningScope::File: 0 the default, 1 the same again.
};

/// One image of one device link (-rdc=true), with the clones of all its units in it.
struct JobLink {
  DeviceLink Source;
  LinkedImage Image;
  std::vector<size_t> Modules; ///< Of the job, linked into it.
  std::string Cubin;           ///< Multi-version.
};

struct TuningJob {
  DeviceInfo Device;
  DeviceModel Model;
  std::vector<JobModule> Modules;
  std::vector<JobLink> Links;
  std::vector<JobKernel> Kernels;
  std::vector<LeftKernel> Left; ///< By falling share.
  bool DeviceHeap = false; ///< Some kernel of the units that were loaded allocates on the device.
};

/// Kernels of \p Record by falling share of GPU time.
std::vector<TracedKernel> tracedKernels(const ProbeRecord &Record);

/// The limits of \p Device: the table's, with the driver's own numbers where they differ (which is
/// logged). Fails where the architecture is not in the table.
llvm::Expected<DeviceModel> modelOf(const DeviceInfo &Device, llvm::StringRef DevicesDir);

/// The image of \p U that \p Device runs: the one of its architecture, else the newest older one of
/// the same generation; where there is none, one derived from the newest embedded PTX that the
/// driver would compile, with ptxas' options redirected to \p Device (its CubinDigest is empty).
/// Nothing where the unit has neither.
std::optional<UnitImage> imageForDevice(const Unit &U, const DeviceInfo &Device);

struct JobContext;
struct JobSources;

/// Makes the job up to its register regions, and with TuningScope::File its variants. What variants
/// of kernels are made from goes into \p Sources. \p AllUnits: consider every unit of the store
/// loaded (for recorded samples, which name no containers of this machine). Fails where the trace
/// has no device; a kernel that cannot be tuned is in TuningJob::Left instead.
llvm::Expected<TuningJob> prepareJob(const ProbeRecord &Trace, const JobContext &Context,
                                     bool AllUnits, JobSources &Sources);

} // namespace carve
