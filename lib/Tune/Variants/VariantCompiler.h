/// \file
/// Compiles settings of kernels without the rest of their modules, to learn their code and
/// resources before anything is timed. The work is spread over as many assemblers as there are
/// cores.
#pragma once

#include "Metrics/Counts/Counts.h"
#include "Tune/Variants/FlavourModules.h"

#include <atomic>
#include <map>

namespace carve {

/// A setting to compile.
struct SettingRequest {
  size_t Kernel = 0;      ///< The index of the job's kernel.
  VariantSetting Setting; ///< The default setting means the kernel as it is.
  /// If it has codes, the variant is composed of these, and Setting is the first's.
  Composition Composed = {};
};

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
};

/// A clone to assemble, and what ptxas is told for it.
struct AssembledClone {
  CloneRequest Request;
  AssemblerSetting Assembler;
};

/// The name of the clone of \p Kernel with \p Setting, such as `_Z1kPf__carve_r40_f255`. With the
/// default setting, it is the name of the control copy.
std::string cloneName(llvm::StringRef Kernel, const VariantSetting &Setting);

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

private:
  /// One code of a kernel of the job.
  struct Code {
    size_t Kernel = 0;
    VariantSetting Setting;
    KnownLaunch Known; ///< What the code relies on; empty if it is for all launches.

    auto operator<=>(const Code &) const = default;
  };
  /// A code to compile, and the place for its result.
  using Pending = std::pair<Code, CompiledSetting *>;
  static Code codeFor(size_t Kernel, const VariantSetting &Setting, KnownLaunch Launch);
  std::vector<GuardedCode> guardedCodesOf(const SettingRequest &R) const;
  std::vector<Code> codesOf(const SettingRequest &R) const;
  static std::vector<Code> codesOf(size_t Kernel, const JobVariant &Variant);
  FrontEndSetting flavourOf(const Code &C) const;
  unsigned smemSpillingThreads(const Code &C, const PtxEntry &Entry) const;
  llvm::Expected<CloneRequest> clone(size_t Module, const Code &C, std::string Name) const;
  Code withoutEmptyFlavour(Code C) const;
  CompiledSetting joined(const SettingRequest &R, llvm::ArrayRef<std::optional<Code>> Ready) const;
  std::vector<std::vector<Pending>> split(const std::vector<Pending> &All) const;
  double limitS(llvm::ArrayRef<Pending> Piece, std::optional<double> MostS) const;
  /// Whether the budget is used up, so that assemblers are ended.
  bool isOutOfTime() const;
  void compilePiece(llvm::ArrayRef<Pending> Piece, std::optional<double> MostS);
  std::optional<KernelCounts> countsOf(const Code &C, llvm::StringRef CubinBytes,
                                       llvm::StringRef Name,
                                       std::map<Code, CountedKernel> &OfPtx) const;
  llvm::Error assemblePiece(llvm::ArrayRef<Pending> Piece, std::optional<double> MostS);

  const TuningJob &Job;
  const JobSources &Sources;
  const JobContext &Context;
  const JobBuild &Built; ///< Tells the block sizes for spilling to shared memory.
  FlavourModules Flavours;
  std::map<Code, CompiledSetting> Done;
  /// By kernel: the seconds that ptxas took for its default; 0 until that is known.
  std::map<size_t, std::atomic<double>> DefaultS;
};

} // namespace carve
