/// \file
/// Makes the module of a round from variants that were compiled by themselves. It takes
/// milliseconds, where ptxas may take seconds to assemble them once more.
#pragma once

#include "Cubin/Assembler.h"
#include "Tune/Variants/VariantCompiler.h"

#include <set>

namespace carve {

/// The modules of one job with their compiled variants.
class JoinedModules {
public:
  /// Keeps references to all; they must outlive it.
  JoinedModules(const TuningJob &Job, const JobSources &Sources, const JobContext &Context,
                const VariantCompiler &Compiler)
      : Job(Job), Sources(Sources), Context(Context), Compiler(Compiler) {}

  /// Returns the program's own image of \p Module with the marked variants (JobVariant::InModule)
  /// of \p Built added, and what ptxas reported of them and of the defaults. Clones that do not fit
  /// are left out and added to \p Unfit, if most fit. Fails if the program has no image, if a
  /// variant was not compiled for this module, if many or a control copy do not fit, and if the
  /// image has other code for a kernel than ptxas makes of its PTX. It may be called for several
  /// modules at once.
  llvm::Expected<Assembled> join(size_t Module, const JobBuild &Built, UnfitKernels &Unfit) const;
  /// The kernels of the settings \p Compiled whose variants need not be assembled once more: those
  /// all of whose modules can be joined from what was compiled.
  std::set<size_t> joining(llvm::ArrayRef<SettingRequest> Compiled) const;

private:
  bool takes(size_t Module, llvm::ArrayRef<SettingRequest> Compiled) const;
  llvm::Expected<std::string> ownImage(size_t Module) const;

  const TuningJob &Job;
  const JobSources &Sources;
  const JobContext &Context;
  const VariantCompiler &Compiler;
};

} // namespace carve
