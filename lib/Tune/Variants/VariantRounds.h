/// \file
/// Makes the variants of a job's kernels in rounds. In each round, every kernel's search proposes
/// settings, and those that promise most are compiled until the round's time is used up. Settings
/// with the same code and forbidden ones are dropped. The modules are assembled with the variants
/// that are timed together. The searches then learn the times for the next round.
#pragma once

#include "Cubin/Assembler.h"
#include "Tune/Variants/JoinedModules.h"

#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace carve {

class SettingSource;

/// Variants by kernel of the job: indices into KernelBuild::Variants, from 2 on.
using VariantSets = std::vector<std::vector<size_t>>;

/// What one round may take.
struct RoundLimits {
  std::vector<size_t> Timable; ///< By kernel of the job: how many new variants can be timed.
  /// Seconds after which no more settings are compiled. Without it, all that are proposed are.
  std::optional<double> CompileS;
  /// Seconds beyond CompileS for which PTX of other front ends is awaited that is being made then.
  double PatienceS = 0;
  /// How many settings of all kernels are compiled at most. What is then timed and cannot join its
  /// module (JoinedModules) is assembled once more with it, and no clock ends that.
  size_t Most = std::numeric_limits<size_t>::max();
  /// Seconds that ptxas may take for such a module, where no earlier one has told Most. What it
  /// took for the kernels' own code then says how many of the compiled variants may be in the
  /// module, four at least. The others may come later. A list of settings has no such limit.
  std::optional<double> FirstAssemblyS = {};
  /// By kernel of the job: a variant to compose and to time with the new ones. It takes one of the
  /// places. Empty if there are none.
  std::vector<Composition> Composed = {};
  /// By kernel of the job: whether the round is filled with settings that promise little
  /// (KernelSearch::fill), because timing them takes no run of its own. If empty, none is.
  std::vector<bool> Filled = {};
  /// By kernel of the job: whether nothing will compare the outputs of its variants. Settings that
  /// need that (VariantSetting::needsComparedOutput()) are not tried then. If empty, all are.
  std::vector<bool> Uncompared = {};
};

/// The rounds of one job.
class VariantRounds {
public:
  /// Keeps references to all; they must outlive it. \p Job comes from prepareJob() with
  /// TuningScope::Kernel. \p Built has nothing yet; the rounds fill it in.
  VariantRounds(const TuningJob &Job, const JobSources &Sources, const JobContext &Context,
                JobBuild &Built);
  ~VariantRounds();

  /// Compiles the next round's compositions and settings, those settings first that promise most
  /// for the program, and adds the variants to be timed to KernelBuild::Variants. Returns false if
  /// there are none.
  bool next(const RoundLimits &Limits);
  /// Ends all searches, and notes what was compiled and not timed.
  void finish();
  /// Assembles all variants of a round of at most \p Most for each kernel, without times.
  void makeAll(size_t Most);
  /// The variants that the last next() added.
  const VariantSets &added() const { return Added; }
  /// Whether \p Composed was not tried yet for kernel number \p Kernel.
  bool mayCompose(size_t Kernel, const Composition &Composed) const;
  /// Removes the variants that the last next() added to kernel number \p Kernel, notes \p Reason
  /// for each, and ends the kernel's search.
  void withdraw(size_t Kernel, const std::string &Reason);
  /// Tells the search of kernel number \p Kernel the times of its variants over the default's time.
  void learn(size_t Kernel, const std::map<size_t, double> &Ratios);

  /// By how much the untried settings of kernel number \p Kernel, and its variants \p Again, which
  /// were made but not timed, are expected to be faster than its best variant, as a share of its
  /// time: that of the most promising one. 0 if its search is over.
  double promise(size_t Kernel, llvm::ArrayRef<size_t> Again) const;

  /// Marks the variants in \p Sets for assemble() (JobVariant::InModule). The default and the
  /// control copy are marked with them. Kernels with an empty set get no clones.
  void select(const VariantSets &Sets);
  /// Assembles and links the modules with the marked variants. Modules without any are not
  /// replaced. A clone that ptxas or nvlink refuses loses its mark.
  void assemble();
  /// Does select() for the whole runs that follow the rounds, and assemble(). If \p MayKeep and the
  /// modules hold all of \p Sets already, they stay as they are, with clones that no run uses.
  void settleOn(const VariantSets &Sets, bool MayKeep);

private:
  bool hold(const VariantSets &Sets) const;
  struct Proposal {
    VariantSetting Setting;
    bool Fills = false; ///< It only fills a round (KernelSearch::fill).
  };
  std::vector<Proposal> proposals(size_t Kernel, const RoundLimits &Limits);
  std::vector<SettingRequest> wishes(const RoundLimits &Limits);
  size_t roomFor(size_t Kernel, const RoundLimits &Limits) const;
  void compose(const RoundLimits &Limits, FlavourModules::Until End);
  void settle(size_t Kernel, llvm::ArrayRef<SettingRequest> Requests,
              llvm::ArrayRef<CompiledSetting> Made, size_t Most);
  void addVariant(size_t Kernel, JobVariant V);
  void describeCarved(size_t Kernel);
  void endSearch(size_t Kernel);
  bool dropBeyondCaps(const std::set<size_t> &Modules);

  const TuningJob &Job;
  const JobSources &Sources;
  const JobContext &Context;
  JobBuild &Built;
  VariantCompiler Compiler;
  JoinedModules Joined;
  std::vector<std::unique_ptr<SettingSource>> Searches; ///< By kernel; null if the search is over.
  VariantSets Added;
  std::vector<std::set<std::string>> Composed; ///< By kernel: compositions that were tried.
  /// The kernel and the name of each variant that the last assemble() put into the modules.
  std::set<std::pair<size_t, std::string>> Assembled;
};

} // namespace carve
