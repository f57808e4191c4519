/// \file
/// The job of a tuning: the kernels that matter, with their register regions. It is made from the
/// trace of a workload and the units of the store, before anything is timed. What is built from it
/// later, variants and images, is in JobBuild.h.
#pragma once

#include "Nvcc/Text/KnownLaunch.h"
#include "Ptx/KernelHazards.h"
#include "Store/Profile.h"
#include "Store/UnitStore.h"
#include "Support/StayReason.h"
#include "Tune/Job/EarlierDecision.h"
#include "Tune/Job/TuningOptions.h"
#include "Workload/ProbeRecords.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// A kernel as the trace saw it.
struct TracedKernel {
  std::string Kernel; ///< The mangled name.
  double Share = 0;   ///< Share of the traced run's GPU time, 0 to 1.
  uint64_t Launches = 0;
  std::vector<KernelLaunches> Shapes;
  uint64_t GraphLaunches = 0; ///< Launches by graphs.
  /// Absent if no call that launches kernels has passed any.
  std::optional<KernelArguments> Arguments = {};
  /// Of shapes whose launches had different arguments: how their time is divided among these.
  std::vector<TracedClass> Classes = {};
  /// The typical launches of shapes whose launches take different times.
  std::vector<TypicalLaunches> Typical = {};
  /// The segments of such shapes, those of each shape in their order.
  std::vector<TracedSegment> Segments = {};
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
  std::string KernelDigest; ///< See PtxModule::kernelDigest.
  KernelHazards Hazards;
  /// What a further entry may be compiled for: what is the same in all traced launches, as far as
  /// it can be written into the kernel's text. Empty if there is nothing, or if there are to be no
  /// such entries.
  KnownLaunch Known;
  /// What several such entries may be compiled for, at most MostFurtherEntries: what is known of
  /// the launches with one grid and block, those that know more first, of equals the one with more
  /// GPU time, and perhaps Known after them. A
  /// launch takes the first that is true of it. Empty if no launches know more than all.
  std::vector<KnownLaunch> KnownShapes = {};
  /// What is the same in all launches, as far as it can be put into the kernel's PTX.
  KnownLaunch KnownPtx = {};
  /// The addresses by which it reads and writes memory, if they lead into different allocations in
  /// all traced launches, so that a further entry may have restrict pointers. Empty if they do not,
  /// if the kernel may reach memory in another way, or if it takes so little time that asking the
  /// driver at each launch would cost too much.
  std::vector<PointerPlace> Apart = {};
  /// The parameters that may then be restrict pointers.
  std::vector<unsigned> Restrict = {};
  /// Absent if no earlier tuning found another variant for this PTX.
  std::optional<EarlierDecision> Earlier = {};
};

/// The launch shape of \p Kernel with the most GPU time. The kernel must have a shape.
const LaunchShape &heaviestShape(const TracedKernel &Kernel);

/// One image of one unit.
struct JobModule {
  Unit Source;
  std::vector<Unit> Twins;     ///< Other units of the store with the same PTX and options.
  UnitImage Image;             ///< The stored image, or a derived one if the unit has none.
  std::vector<size_t> Kernels; ///< Indices into the job's kernels.
};

/// What one tuning works on. It does not change after prepareJob().
struct TuningJob {
  DeviceInfo Device;
  DeviceModel Model;
  std::vector<JobModule> Modules;
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

/// Makes the job. Sets \p Sources to the code that variants of kernels are made from. With \p
/// AllUnits, every unit of the store counts as loaded; recorded samples need this, because they
/// name no containers of this machine. A kernel that cannot be tuned is put into TuningJob::Left.
/// Fails if the trace has no device, the device is not in the table, or ptxas or nvcc fails.
llvm::Expected<TuningJob> prepareJob(const ProbeRecord &Trace, const JobContext &Context,
                                     bool AllUnits, JobSources &Sources);

} // namespace carve
