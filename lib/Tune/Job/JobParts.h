/// \file
/// The steps by which prepareJob() (TuningJob.h) makes a job, in their order, and those by which
/// VariantRounds makes its variants.
#pragma once

#include "Nvcc/Toolchain.h"
#include "Ptx/PtxModule.h"
#include "Tune/Job/TuningJob.h"

#include <functional>
#include <set>

namespace carve {

/// The PTX of a unit's image as cicc makes it with another `-maxreg`. Fails where none can be made.
/// Called from several threads.
using FlavourFunction =
    std::function<llvm::Expected<std::string>(const Unit &, const UnitImage &, unsigned Cap)>;

/// What every step is given.
struct JobContext {
  const UnitStore &Store;
  const Toolchain &T;
  CommandRunner &Runner;
  const TuningOptions &Options;
  FlavourFunction FlavourPtx = {}; ///< Empty: there are no front-end flavours.
  /// Told of progress in what takes long: what is done, and how much of it.
  std::function<void(llvm::StringRef What, size_t Done, size_t Of)> Step = [](llvm::StringRef,
                                                                              size_t, size_t) {};
};

/// A unit that was loaded, with its PTX read.
struct ParsedModule {
  Unit Source;
  std::vector<Unit> Twins; ///< Units of the same PTX and options: one source built in two places.
  UnitImage Image;
  PtxModule Ptx;
  std::optional<size_t> InJob; ///< Index of its JobModule, once one of its kernels is tuned.
  /// Of a relocatable unit: why no image that was loaded can be linked again with variants of it.
  std::optional<std::string> NotLinked;
};

/// One input of a device link, as it is found again.
struct FoundInput {
  std::string Path;             ///< On disk, unchanged; empty where it is in the store alone.
  std::optional<size_t> Module; ///< The ParsedModule that it was compiled from.
};

/// A device link that was loaded, all of whose inputs are there.
struct ParsedLink {
  DeviceLink Source;
  LinkedImage Image;
  std::vector<FoundInput> Inputs; ///< As Source.Inputs.
};

/// What variants are made from.
struct JobSources {
  std::vector<ParsedModule> Modules;
  std::vector<ParsedLink> Links;

  /// What module \p JobModule of the job was made from.
  const ParsedModule &of(size_t JobModule) const;
};

/// Reads the PTX of each unit's image for the job's device. Units that have none are left out and
/// logged.
std::vector<ParsedModule> parseModules(std::vector<Unit> Units, const TuningJob &Job,
                                       const JobContext &Context);

/// Finds the modules of every hot kernel. Fills Job.Kernels and Job.Modules, and Job.Left with
/// what cannot be tuned: in no unit, in no device link, of different code under one name, and the
/// reasons of reasonNotTunable().
void placeKernels(std::vector<TracedKernel> Traced, std::vector<ParsedModule> &Parsed,
                  TuningJob &Job, const JobContext &Context);

/// Finds the register region of every kernel of the job, modules side by side.
llvm::Error findRegions(const std::vector<ParsedModule> &Parsed, TuningJob &Job,
                        const JobContext &Context);

/// The caps to try for \p Kernel: points of its shapes within the launch domain. What the domain
/// forbids is noted in JobKernel::Dropped, its limit in JobKernel::LaunchableRegs.
std::vector<unsigned> capsToTry(JobKernel &Kernel, const EntryDirectives &Directives,
                                const TuningJob &Job, const TuningOptions &Options);

/// Why \p Variant of \p Kernel may not be used although its cap is in the domain: a kernel that
/// needs its blocks resident would lose some, or its local memory would grow too much.
std::optional<std::string> forbidden(const JobKernel &Kernel, const JobVariant &Variant,
                                     const TuningJob &Job);

} // namespace carve
