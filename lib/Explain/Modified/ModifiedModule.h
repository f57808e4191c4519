/// \file
/// One module with modified versions of its kernels (Explain/Modified/ModifiedKernel.h): made,
/// assembled, and held against the kernels themselves. What makeModifiedVariants() does for each.
#pragma once

#include "Cubin/Assembler.h"
#include "Tune/Job/JobParts.h"

#include "llvm/ADT/StringMap.h"

namespace carve {

/// Which of a kernel's two sides is left in a modified version.
enum class ModifiedPart { Memory, Arithmetic };
/// `memory-only`, `arithmetic-only`
llvm::StringRef nameOf(ModifiedPart Part);

/// One modified version of one kernel, in one module.
struct ModifiedVersion {
  size_t Kernel = 0; ///< Of the job.
  ModifiedPart What = ModifiedPart::Memory;
  std::string Name, Text;
  std::string Failure; ///< Why it is not used; empty: it may be.
};

class ModifiedModule {
public:
  /// All have to outlive it.
  ModifiedModule(const TuningJob &Job, size_t Module, const JobSources &Sources,
                 const JobContext &Context)
      : Job(Job), Source(Sources.of(Module)), Context(Context) {}

  /// Makes the image with control copies and modified versions of \p Kernels (of the job).
  void make(llvm::ArrayRef<size_t> Kernels);

  Assembled Image;
  std::vector<ModifiedVersion> Versions; ///< Of each kernel and part one, made or failed.
  std::string Failure;                   ///< Why there is no image.

private:
  void addVersions(size_t Kernel, ModifiedPart What);
  llvm::Expected<Assembled> assembleWith(llvm::ArrayRef<const ModifiedVersion *> Some) const;
  llvm::Error assembleAll();
  void dropRefused();
  void check();
  std::string whyNot(const ModifiedVersion &V) const;
  void capTheLarge();
  llvm::Error allotRegisters();
  const KernelResources *resources(llvm::StringRef Name) const;
  unsigned blocks(const ModifiedVersion &V, const KernelResources &R, unsigned Regs) const;
  const std::string &kernelOf(const ModifiedVersion &V) const {
    return Job.Kernels[V.Kernel].Traced.Kernel;
  }

  const TuningJob &Job;
  const ParsedModule &Source;
  const JobContext &Context;
  std::vector<size_t> Kernels;
  llvm::StringMap<EntryEdit> Caps; ///< By version.
};

} // namespace carve
