/// \file
/// Makes one module with modified versions of its kernels (ModifiedKernel.h), assembles it, and
/// compares the versions with the kernels. makeModifiedVariants() does this for each module.
#pragma once

#include "Cubin/Assembler.h"
#include "Tune/Job/JobParts.h"

#include "llvm/ADT/StringMap.h"

namespace carve {

/// The part of a kernel that is left in a modified version.
enum class ModifiedPart { Memory, Arithmetic };
/// Returns `memory-only` or `arithmetic-only`.
llvm::StringRef nameOf(ModifiedPart Part);

/// One modified version of one kernel, in one module.
struct ModifiedVersion {
  size_t Kernel = 0; ///< The kernel's index in the job.
  ModifiedPart What = ModifiedPart::Memory;
  std::string Name, Text;
  std::string Failure; ///< Why the version is not used; empty if it can be used.
};

/// One module of the job.
class ModifiedModule {
public:
  /// All arguments must outlive the module.
  ModifiedModule(const TuningJob &Job, size_t Module, const JobSources &Sources,
                 const JobContext &Context)
      : Job(Job), Source(Sources.of(Module)), Context(Context) {}

  /// Makes the image with control copies and modified versions of \p Kernels, indices in the job.
  /// If that fails, sets Failure.
  void make(llvm::ArrayRef<size_t> Kernels);

  Assembled Image;
  /// One version for each kernel and part, either made or failed.
  std::vector<ModifiedVersion> Versions;
  std::string Failure; ///< Why there is no image.

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
  llvm::StringMap<EntryEdit> Caps; ///< By the version's name: the register cap that it needs.
};

} // namespace carve
