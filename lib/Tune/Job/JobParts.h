/// \file
/// The steps by which prepareJob() (TuningJob.h) makes a job, in their order, and the rules that
/// VariantRounds and FileVariants apply to caps and variants. placeKernels() decides which kernels
/// are not tuned, and why.
#pragma once

#include "Nvcc/FrontEndSetting.h"
#include "Nvcc/Toolchain.h"
#include "Ptx/PtxModule.h"
#include "Support/ProgressDisplay.h"
#include "Tune/Job/JobBuild.h"

#include <functional>
#include <optional>
#include <set>

namespace carve {

/// Makes the PTX of a unit's image as cicc makes it with another setting. Fails if cicc cannot make
/// it. It is called from several threads.
using FlavourFunction = std::function<llvm::Expected<std::string>(const Unit &, const UnitImage &,
                                                                  const FrontEndSetting &)>;

/// What every step needs.
struct JobContext {
  const UnitStore &Store;
  const Toolchain &T;
  CommandRunner &Runner;
  const TuningOptions &Options;
  FlavourFunction FlavourPtx = {}; ///< Empty if there are no front-end flavours.
  ProgressDisplay &Progress = silentProgress();
  /// What FlavourPtx runs its processes with, if they may be abandoned.
  AbandonableRunner *FlavourRunner = nullptr;
  /// Returns the seconds of the budget that are left, or nothing if there is no budget. Empty if
  /// there never is.
  std::function<std::optional<double>()> LeftS = {};

  std::optional<double> secondsLeft() const { return LeftS ? LeftS() : std::nullopt; }
};

/// A unit that was loaded, with its PTX read.
struct ParsedModule {
  Unit Source;
  /// Units with the same PTX and options, such as one source that is built in two places.
  std::vector<Unit> Twins;
  UnitImage Image;
  PtxModule Ptx;
  std::optional<size_t> InJob; ///< Index of its JobModule, if one of its kernels is tuned.
  /// Why a relocatable unit cannot be tuned: no loaded image can be linked again with its variants.
  std::optional<KnownReason> NotLinked;
};

/// An input of a device link that was found again.
struct FoundInput {
  std::string Path;             ///< The unchanged file; empty if only the store has the code.
  std::optional<size_t> Module; ///< The ParsedModule that it was compiled from.
};

/// A device link that was loaded, all of whose inputs are there.
struct ParsedLink {
  DeviceLink Source;
  LinkedImage Image;
  std::vector<FoundInput> Inputs; ///< One for each of Source.Inputs, in that order.
};

/// The code that variants are made from.
struct JobSources {
  std::vector<ParsedModule> Modules;
  std::vector<ParsedLink> Links;

  /// The parsed module that module number \p JobModule of the job was made from.
  const ParsedModule &of(size_t JobModule) const;
};

/// Reads the PTX of each unit's image for the job's device. Units without such an image, or whose
/// PTX cannot be read, are logged and left out.
std::vector<ParsedModule> parseModules(std::vector<Unit> Units, const TuningJob &Job,
                                       const JobContext &Context);

/// Finds the modules of every kernel whose share is large enough. Adds the kernels to Job.Kernels
/// and their modules to Job.Modules. Kernels that cannot be tuned go to Job.Left with the reason:
/// the share is too small, another shard tunes it, the kernel is in no unit or in no sound device
/// link, units have different code under its name, or reasonNotTunable() names a reason.
void placeKernels(std::vector<TracedKernel> Traced, std::vector<ParsedModule> &Parsed,
                  TuningJob &Job, const JobContext &Context);

/// Finds the register region of every kernel of the job, for several modules in parallel. If half
/// of what is left of the budget is not enough for that, the kernels of a module have the registers
/// that were traced at both ends. Fails if ptxas fails.
llvm::Error findRegions(const std::vector<ParsedModule> &Parsed, TuningJob &Job,
                        const JobContext &Context);

/// Sets JobKernel::Earlier of every kernel of the job, from the profiles that builds of its first
/// unit ask. A profile that cannot be read is logged.
void findEarlierDecisions(const std::vector<ParsedModule> &Parsed, TuningJob &Job,
                          const UnitStore &Store);

/// The register caps to try for \p Kernel, ascending: the points of all its shapes within the
/// launch domain, or, if the kernel may have further entries, within the blocks that were traced.
/// Caps that are forbidden are added to KernelBuild::Dropped. Sets KernelBuild::LaunchableRegs and
/// FirstEntryRegs.
std::vector<unsigned> capsToTry(const JobKernel &Kernel, const EntryDirectives &Directives,
                                const TuningJob &Job, const TuningOptions &Options,
                                KernelBuild &Built);

/// Whether all traced launches of \p Kernel would take a further entry that is large enough for
/// their blocks, so that such an entry can be timed in the kernel's place.
bool mayHaveFurtherEntry(const JobKernel &Kernel, const TuningJob &Job,
                         const TuningOptions &Options);

/// Whether \p Variant of a kernel may only be a further entry of it.
bool needsGuard(const JobVariant &Variant, const KernelBuild &Built);

/// The further entries that a kernel with \p Variant gets, one for each of its codes, in the order
/// in which launches are compared with them. Each is for all launches that its registers allow, and
/// that have what its code relies on.
std::vector<FurtherEntry> furtherEntriesOf(const JobVariant &Variant, const TuningJob &Job);

/// Why \p Variant of \p Kernel may not be used although its cap is in the domain, or nothing if it
/// may. For example, a kernel that needs its blocks resident would lose some, or its local memory
/// would grow too much.
std::optional<std::string> forbidden(const JobKernel &Kernel, const KernelBuild &Built,
                                     const JobVariant &Variant, const TuningJob &Job);

} // namespace carve
