/// \file
/// Compiles settings of kernels without the rest of their modules, spread over as many assemblers
/// as there are cores, to learn their code and resources before anything is timed.
#pragma once

#include "Metrics/Counts/Counts.h"
#include "Tune/Variants/FlavourModules.h"

#include <map>

namespace carve {

struct SettingRequest {
  size_t Kernel = 0;      ///< Of the job.
  VariantSetting Setting; ///< The default: the kernel as it is.
};

/// What became of one.
struct CompiledSetting {
  KernelResources Resources; ///< As ptxas reports them.
  std::string CodeDigest;
  std::optional<KernelCounts> Counts; ///< Absent where the code could not be read.
  std::string Failure;                ///< Why there is none; empty: it was compiled.
};

/// `_Z1kPf__carve_r40_f255`; of the default, its control copy.
std::string cloneName(llvm::StringRef Kernel, const VariantSetting &Setting);

/// The line of a failure that says what is wrong: assemblers print many.
std::string firstLine(llvm::Error Failed);

class VariantCompiler {
public:
  /// All have to outlive it.
  VariantCompiler(const TuningJob &Job, const JobSources &Sources, const JobContext &Context)
      : Job(Job), Sources(Sources), Context(Context), Flavours(Sources, Context) {}

  /// Compiles each of \p Requests in the first module of its kernel. A setting that came before, or
  /// whose front-end cap changes nothing in the kernel's PTX, is not compiled again. One that fails
  /// costs only itself.
  std::vector<CompiledSetting> compile(llvm::ArrayRef<SettingRequest> Requests);

  /// Makes the PTX that clones in all modules of their kernels need.
  void prepareFlavours(llvm::ArrayRef<SettingRequest> Requests, bool AllModules);
  /// The clone of \p Kernel in \p Module with \p Setting, whose flavour was prepared. Fails where
  /// it cannot be had.
  llvm::Expected<CloneRequest> clone(size_t Module, size_t Kernel,
                                     const VariantSetting &Setting) const;

private:
  using Key = std::pair<size_t, VariantSetting>;
  /// A setting to be compiled, and where its result goes.
  using Pending = std::pair<Key, CompiledSetting *>;
  VariantSetting withoutEmptyFlavour(const SettingRequest &R) const;
  std::vector<std::vector<Pending>> split(const std::vector<Pending> &All) const;
  void compilePiece(llvm::ArrayRef<Pending> Piece) const;
  std::optional<KernelCounts> countsOf(const Key &K, llvm::StringRef CubinBytes,
                                       llvm::StringRef Name,
                                       std::map<Key, CountedKernel> &OfPtx) const;
  llvm::Error assemblePiece(llvm::ArrayRef<Pending> Piece) const;

  const TuningJob &Job;
  const JobSources &Sources;
  const JobContext &Context;
  FlavourModules Flavours;
  std::map<Key, CompiledSetting> Done;
};

} // namespace carve
