/// \file
/// The variants of a job's kernels, round by round: each kernel's search proposes settings, they
/// are compiled, what is the same, forbidden or carved away falls out, and the modules are
/// assembled with those that are timed together. Times come back to the searches for the next
/// round.
#pragma once

#include "Cubin/Assembler.h"
#include "Tune/Variants/VariantCompiler.h"

#include <memory>

namespace carve {

/// Variants by kernel of the job, as indices of JobKernel::Variants from 2 on.
using VariantSets = std::vector<std::vector<size_t>>;

class VariantRounds {
public:
  /// All have to outlive it. \p Job comes from prepareJob() with TuningScope::Kernel.
  VariantRounds(TuningJob &Job, const JobSources &Sources, const JobContext &Context);
  ~VariantRounds();

  /// Makes the next round's variants, and adds those that are to be timed to JobKernel::Variants.
  /// False where no search wants any more.
  bool next();
  /// Makes the rounds that are left without any times, and assembles all variants.
  void makeAll();
  /// What the last next() added.
  const VariantSets &added() const { return Added; }
  /// Takes the variants back that the last next() added to \p Kernel, for \p Reason, and ends its
  /// search.
  void withdraw(size_t Kernel, const std::string &Reason);
  /// Tells the search of \p Kernel the times of its variants over the default's.
  void learn(size_t Kernel, const std::map<size_t, double> &Ratios);

  /// Marks \p Sets for assemble(): default and control copy come along, kernels without any have
  /// no clone (JobVariant::InModule).
  void select(const VariantSets &Sets);
  /// Assembles and links the modules with the variants that are marked; modules without any are
  /// not replaced. A clone that is refused loses its mark.
  void assemble();

  /// Module \p Module with the variants \p Chosen (by kernel of the job; 0 and 1: the default) in
  /// their kernels' own places, at a register-usage level where one is given.
  llvm::Expected<Assembled> assembleChosen(size_t Module, llvm::ArrayRef<size_t> Chosen,
                                           std::optional<unsigned> Level) const;
  /// The entry \p Name of a module; null where it has none.
  const PtxEntry *entry(size_t Module, llvm::StringRef Name) const {
    return Sources.of(Module).Ptx.find(Name);
  }

private:
  class Source; ///< Of a kernel's settings.
  std::vector<VariantSetting> proposals(size_t Kernel);
  void settle(size_t Kernel, llvm::ArrayRef<SettingRequest> Requests,
              llvm::ArrayRef<CompiledSetting> Made);
  void addVariant(size_t Kernel, JobVariant V);
  void describeCarved(size_t Kernel);
  void endSearch(size_t Kernel);
  bool dropBeyondCaps(const std::set<size_t> &Modules);

  TuningJob &Job;
  const JobSources &Sources;
  const JobContext &Context;
  VariantCompiler Compiler;
  std::vector<std::unique_ptr<Source>> Searches; ///< By kernel; null: over.
  VariantSets Added;
};

} // namespace carve
