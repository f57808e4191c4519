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
  /// of \p Built added, and what ptxas reported of them and of the defaults. Fails if the program
  /// has no image, if a variant was not compiled for this module, or as joinKernels() does. It may
  /// be called for several modules at once.
  llvm::Expected<Assembled> join(size_t Module, const JobBuild &Built) const;
  /// Those of \p Kernels whose variants can be joined to their module, by the defaults, which
  /// compile() has made. The kernels of one module can, or none of them: a large image is tried
  /// once.
  std::set<size_t> joining(const std::set<size_t> &Kernels) const;

private:
  bool takes(size_t Module, llvm::ArrayRef<size_t> Kernels) const;
  llvm::Expected<CompiledClone> compiledDefault(size_t Module, size_t Kernel,
                                                std::string Name) const;
  llvm::Expected<std::string> ownImage(size_t Module) const;

  const TuningJob &Job;
  const JobSources &Sources;
  const JobContext &Context;
  const VariantCompiler &Compiler;
};

} // namespace carve
