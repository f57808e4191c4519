/// \file
/// Compiles settings of kernels without the rest of their modules, to learn their code and
/// resources before anything is timed. The work is spread over as many assemblers as there are
/// cores.
#pragma once

#include "Cubin/JoinKernels.h"
#include "Metrics/Counts/Counts.h"
#include "Tune/Variants/FlavourModules.h"
#include "Tune/Variants/SettingCodes.h"

#include <atomic>
#include <map>
#include <memory>

namespace carve {

/// The result of compiling one setting.
struct CompiledSetting {
  KernelResources Resources; ///< The resources that ptxas reports.
  std::string CodeDigest;
  std::optional<KernelCounts> Counts; ///< Absent if the code could not be counted.
  std::string Failure;                ///< Why it could not be compiled; empty if it was.
  bool Pending = false; ///< It is not compiled yet: cicc has not made its PTX. Nothing else is set.
  /// The codes of a setting that depends on the launch (JobVariant::Codes). Resources and Counts
  /// are those of the first.
  std::vector<GuardedCode> Codes = {};
  /// The image that has its code, or that of the first of Codes, and the name of the code in it.
  /// Images with much data are not kept.
  std::shared_ptr<const std::string> Image = nullptr;
  std::string NameInImage = {};
};

/// A clone to assemble, and what ptxas is told for it.
struct AssembledClone {
  CloneRequest Request;
  AssemblerSetting Assembler;
};

/// A clone that was compiled by itself.
struct CompiledClone {
  JoinedKernel Code; ///< Its image lives as long as the compiler.
  KernelResources Resources;
  std::string CodeDigest;
};

/// The first line of \p Failed. Assemblers print many lines, and the first says what is wrong.
std::string firstLine(llvm::Error Failed);

/// Compiles the settings of one job and remembers the results.
class VariantCompiler {
public:
  /// Keeps references to all; they must outlive it.
  VariantCompiler(const TuningJob &Job, const JobSources &Sources, const JobContext &Context,
                  const JobBuild &Built)
      : Job(Job), Sources(Sources), Context(Context), Built(Built), Flavours(Sources, Context) {}

  /// Compiles each of \p Requests in the first module of its kernel. The result has one element per
  /// request, in that order. A setting that was compiled before is not compiled again. The same
  /// holds if its front-end cap and knob do not change the kernel's PTX and the setting without
  /// them was compiled. A setting that fails does not affect the others. Until \p End, PTX of other
  /// front ends is awaited; what then has none is pending. A run of ptxas may take \p MostS
  /// seconds, or as long as some runs for the kernel's default if that is more: a kernel whose
  /// loops are unrolled far may take a minute. What takes longer has failed. The default itself has
  /// no limit.
  std::vector<CompiledSetting> compile(llvm::ArrayRef<SettingRequest> Requests,
                                       FlavourModules::Until End, std::optional<double> MostS);

  /// The seconds that ptxas took for the default of \p Kernel, and what it assembled with it; 0 if
  /// that is not known.
  double secondsOfDefault(size_t Kernel) const;

  /// Makes the PTX that the front-end settings of all marked variants need (JobVariant::InModule),
  /// for all modules of their kernels, and waits for it.
  void prepareMarked();
  /// Gives up PTX that is not made yet.
  void abandonFlavours() { Flavours.abandon(); }
  /// The clones of \p Kernel in \p Module that \p Variant needs, one for each of its codes.
  /// prepareMarked() has handled its front-end settings. Fails if that PTX could not be made or
  /// does not have the kernel.
  llvm::Expected<std::vector<AssembledClone>> clones(size_t Module, size_t Kernel,
                                                     const JobVariant &Variant) const;
  /// The same clones as compile() has made them. Fails if it has not, or for another module.
  llvm::Expected<std::vector<CompiledClone>> compiledClones(size_t Module, size_t Kernel,
                                                            const JobVariant &Variant) const;
  /// The clones of the variant that \p R asks for; of the default, its control copy.
  llvm::Expected<std::vector<CompiledClone>> compiledClones(size_t Module,
                                                            const SettingRequest &R) const;

private:
  /// A code to compile, and the place for its result.
  using Pending = std::pair<SettingCode, CompiledSetting *>;
  unsigned smemSpillingThreads(const SettingCode &C, const PtxEntry &Entry) const;
  llvm::Expected<CloneRequest> clone(size_t Module, const SettingCode &C, std::string Name) const;
  SettingCode withoutEmptyFlavour(SettingCode C) const;
  llvm::Expected<CompiledClone> compiledClone(size_t Module, const SettingCode &C,
                                              std::string Name) const;
  CompiledSetting joined(const SettingRequest &R,
                         llvm::ArrayRef<std::optional<SettingCode>> Ready) const;
  std::vector<std::vector<Pending>> split(const std::vector<Pending> &All) const;
  double limitS(llvm::ArrayRef<Pending> Piece, std::optional<double> MostS) const;
  /// Whether the budget is used up, so that assemblers are ended.
  bool isOutOfTime() const;
  void compilePiece(llvm::ArrayRef<Pending> Piece, std::optional<double> MostS);
  std::optional<KernelCounts> countsOf(const SettingCode &C, llvm::StringRef CubinBytes,
                                       llvm::StringRef Name,
                                       std::map<SettingCode, CountedKernel> &OfPtx) const;
  llvm::Error assemblePiece(llvm::ArrayRef<Pending> Piece, std::optional<double> MostS);

  const TuningJob &Job;
  const JobSources &Sources;
  const JobContext &Context;
  const JobBuild &Built; ///< Tells the block sizes for spilling to shared memory.
  FlavourModules Flavours;
  std::map<SettingCode, CompiledSetting> Done;
  /// By kernel: the seconds that ptxas took for its default; 0 until that is known.
  std::map<size_t, std::atomic<double>> DefaultS;
};

} // namespace carve
