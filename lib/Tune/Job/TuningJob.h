/// \file
/// The job of a tuning: the kernels that matter, with their register regions. It is made from the
/// trace of a workload and the units of the store, before anything is timed. The kernels' variants
/// are made later, in rounds (VariantRounds.h). One module per unit holds the variants that are
/// timed together.
#pragma once

#include "Ptx/KernelHazards.h"
#include "Store/Profile.h"
#include "Store/UnitStore.h"
#include "Support/StayReason.h"
#include "Tune/Job/TuningOptions.h"
#include "Workload/ProbeRecords.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace carve {

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
};

/// The names of \p Variants in plans, records and samples: `default`, `control`, and then each
/// variant's setting, such as `r40`, or its purpose.
std::vector<std::string> namesOf(llvm::ArrayRef<JobVariant> Variants);

/// A setting that was compiled but is not timed.
struct CarvedJobVariant {
  VariantSetting Setting;
  std::string Reason;
  StaticMetrics Metrics;
};

/// A kernel as the trace saw it.
struct TracedKernel {
  std::string Kernel; ///< The mangled name.
  double Share = 0;   ///< Share of the traced run's GPU time, 0 to 1.
  uint64_t Launches = 0;
  std::vector<KernelLaunches> Shapes;
};

/// A kernel that is not tuned, and why.
struct LeftKernel {
  TracedKernel Traced;
  StayReason Reason;
  unsigned DefaultRegs = 0;
};

/// A kernel to tune. With TuningScope::File, the times of a unit are the times of its kernels.
struct JobKernel {
  TracedKernel Traced;
  std::vector<size_t> Modules; ///< The job's modules that have it.
  RegisterRegion Region;
  /// The most registers that the launch domain allows; 0 if this is not known yet.
  unsigned LaunchableRegs = 0;
  /// The block size, in threads, that it is bound to with spilling to shared memory if it has no
  /// bound of its own.
  unsigned SmemSpillingThreads = 0;
  std::string KernelDigest; ///< See PtxModule::kernelDigest.
  KernelHazards Hazards;
  /// Variant 0 is the default and 1 its control copy. Only used with TuningScope::Kernel.
  std::vector<JobVariant> Variants;
  std::vector<std::string> Dropped; ///< Settings that are not tried, each with its reason.
  std::vector<CarvedJobVariant> Carved;
  unsigned Compiled = 0; ///< Settings that were compiled, without the default.
  StayReason LeftReason; ///< Why it is not tuned after all; empty if it is tuned.

  /// The number of its clones in the modules as they are assembled now, with the default and the
  /// control. It is 0 if the kernel takes no part in the round.
  size_t timedTogether() const;
};

/// The launch shape of \p Kernel with the most GPU time. The kernel must have a shape.
const LaunchShape &heaviestShape(const TracedKernel &Kernel);

/// One image of one unit, with its clones.
struct JobModule {
  Unit Source;
  std::vector<Unit> Twins; ///< Other units of the store with the same PTX and options.
  UnitImage Image;         ///< The stored image, or a derived one if the unit has none.
  /// The multi-version image with TuningScope::Kernel, else the default image. For a relocatable
  /// unit, it is an input of nvlink and not an image that the program loads.
  std::string Cubin;
  std::vector<size_t> Kernels; ///< Indices into the job's kernels.
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

/// Everything that one tuning works on.
struct TuningJob {
  DeviceInfo Device;
  DeviceModel Model;
  std::vector<JobModule> Modules;
  std::vector<JobLink> Links;
  std::vector<JobKernel> Kernels;
  std::vector<LeftKernel> Left; ///< Kernels that are not tuned, by falling share.
  bool DeviceHeap = false; ///< Whether some kernel of the loaded units allocates on the device.
};

/// The kernels of \p Record, by falling share of GPU time.
std::vector<TracedKernel> tracedKernels(const ProbeRecord &Record);

/// The limits of \p Device from the table in \p DevicesDir. If the driver reports another number,
/// that number is used and the difference is logged. Fails if the architecture is not in the table.
llvm::Expected<DeviceModel> modelOf(const DeviceInfo &Device, llvm::StringRef DevicesDir);

/// The image of \p U that \p Device runs: the image of its architecture, or else the newest older
/// image of the same generation. If there is none, it is derived from the newest embedded PTX that
/// the driver would compile, with ptxas' options changed to \p Device; its CubinDigest is then
/// empty. Returns nothing if the unit has neither.
std::optional<UnitImage> imageForDevice(const Unit &U, const DeviceInfo &Device);

struct JobContext;
struct JobSources;

/// Makes the job up to its register regions, and with TuningScope::File also its variants. Sets
/// \p Sources to the code that variants of kernels are made from. With \p AllUnits, every unit of
/// the store counts as loaded; recorded samples need this, because they name no containers of this
/// machine. A kernel that cannot be tuned is put into TuningJob::Left. Fails if the trace has no
/// device, the device is not in the table, or ptxas or nvcc fails.
llvm::Expected<TuningJob> prepareJob(const ProbeRecord &Trace, const JobContext &Context,
                                     bool AllUnits, JobSources &Sources);

} // namespace carve
