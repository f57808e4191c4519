/// \file
/// Searches the variants of one kernel. It says which settings to compile next, the most promising
/// first, which of the compiled ones to time, and what to try around the best of them. How many is
/// the caller's matter: time is its budget. It knows neither compilers nor GPUs: tuning feeds it,
/// and so does a table of measurements.
#pragma once

#include "Search/Carver.h"
#include "Search/VariantModel.h"

#include <map>
#include <set>

namespace carve {

/// Which knobs a search tries. 0: register caps at critical points alone, in one round. 1: also
/// front-end caps. 2: also other caps and knobs. 3: also caps at other register-usage levels.
inline constexpr unsigned DefaultEffort = 2;

/// A setting whose expected gain is below this share of the kernel's time is not worth timing.
inline constexpr double LeastPromise = 0.002;

/// The weight of a request to compile, among those of all kernels of a program: by the kernel's
/// share of GPU time, and its \p Rank among the kernel's proposals. What only fills a round comes
/// after everything that promises something.
inline double requestWeight(double Share, size_t Rank, bool Fills) {
  return Share / double(1 + Rank) - (Fills ? 1 : 0);
}

/// The caller repeats propose(), compiling, admit(), timing and learn() until propose() returns
/// nothing, or until its time is used up. Each repetition is one round: one run of the user's
/// program.
class KernelSearch {
public:
  KernelSearch(const KnobSpace &Space, unsigned Effort = DefaultEffort,
               const ModelScale &Scale = {});

  /// Takes settings that won in an earlier tuning. Those that are possible are proposed before all
  /// others. At effort 0 they must be register caps at critical points, as everything is there.
  void suggest(llvm::ArrayRef<VariantSetting> Settings);
  /// Returns at most \p Most settings to compile now, the most promising first. If there are none,
  /// nothing is worth trying any more. A setting that was proposed before and not compiled, or
  /// compiled and not admitted, may be returned again, so the caller can keep its code.
  std::vector<VariantSetting> propose(size_t Most);
  /// Appends further settings to what propose() has returned, up to \p Most in all: those first
  /// that are expected to be fastest. They promise too little to be worth a round, but a round that
  /// is made anyway may have time for them. Appends nothing if propose() has returned nothing.
  void fill(std::vector<VariantSetting> &Proposed, size_t Most) const;
  /// Takes what became of the settings \p Tried, which propose() returned: \p Made are those that
  /// were compiled, in the first round with the default. The others of \p Tried failed to compile
  /// or are forbidden. Returns at most \p Most settings of \p Made to time now: what suggest()
  /// took, then the most promising first by what metrics tell of their code. Only equal code is
  /// cut. Those come last that metrics put behind another.
  std::vector<VariantSetting> admit(llvm::ArrayRef<VariantSetting> Tried,
                                    std::vector<Candidate> Made, size_t Most);
  /// Takes settings of propose() that may not be compiled. They are not proposed again.
  void forbid(llvm::ArrayRef<VariantSetting> Settings) {
    Gone.insert(Settings.begin(), Settings.end());
  }
  /// Takes the times of variants as ratios to the default's time. If it is not called, the next
  /// round relies on the model alone.
  void learn(const std::map<VariantSetting, double> &New);
  /// Ends the search: cuts what was compiled but not timed, and says what was expected of it.
  void finish();

  /// Returns how many variants admit() has chosen for timing so far.
  size_t timed() const { return Chosen.size(); }
  /// What is left to try.
  struct Rest {
    size_t Settings = 0; ///< Settings that promise LeastPromise or more.
    double Promise = 0;  ///< The largest of their expected gains, as a share of the kernel's time.
  };
  /// \p Also are settings that were chosen for timing and not timed. They count as settings that
  /// are left.
  Rest rest(llvm::ArrayRef<VariantSetting> Also = {}) const;
  /// By how much \p V is expected to be faster than the best so far, as a share of the kernel's
  /// time. It need not be a setting that may be tried.
  double promiseOf(const VariantSetting &V) const { return Model.expectedGain(point(V)); }
  /// Returns the settings that are not timed, in the order in which they were cut. The list is
  /// complete after finish().
  const std::vector<CarvedVariant> &carved() const { return Carved; }

private:
  bool worthwhile(const VariantSetting &V) const;
  bool isIdle(const VariantSetting &Alone) const;
  bool early(const VariantSetting &V) const;
  const Candidate *made(const VariantSetting &V) const;
  ModelPoint point(const VariantSetting &V) const;
  std::vector<VariantSetting> left() const;
  std::vector<VariantSetting> nearestPoints(llvm::ArrayRef<VariantSetting> Among,
                                            size_t Most) const;
  std::vector<VariantSetting> landmarks(llvm::ArrayRef<VariantSetting> Among, size_t Count) const;
  std::vector<VariantSetting> aroundTheBest() const;
  std::vector<std::pair<double, size_t>> byGain(llvm::ArrayRef<VariantSetting> Pool,
                                                const VariantModel &By, double Least) const;
  std::vector<VariantSetting> pick(llvm::ArrayRef<VariantSetting> Among, size_t Count) const;
  std::vector<Candidate> differentFrom(std::vector<Candidate> Made);
  std::vector<VariantSetting> inOrderOfPromise(llvm::ArrayRef<Candidate> Different,
                                               size_t Most) const;
  std::set<VariantSetting> outdone(llvm::ArrayRef<Candidate> Made) const;
  void cut(const VariantSetting &V, std::string Reason);

  KnobSpace Space;
  unsigned Effort;
  ModelScale Scale;
  VariantModel Model;
  unsigned Round = 0;                      ///< Rounds that were admitted.
  std::map<VariantSetting, double> Ratios; ///< Times of the timed variants over the default's.
  double BestRatio = 1;
  std::vector<VariantSetting> Suggested;          ///< What suggest() took.
  std::map<VariantSetting, Candidate> Candidates; ///< All that were compiled, with the default.
  std::vector<VariantSetting> InOrder; ///< Their settings as they came, without the default.
  std::set<VariantSetting> Gone;       ///< Settings that were timed, cut, or failed to compile.
  std::vector<VariantSetting> Chosen;  ///< Settings chosen for timing, in the order of choice.
  std::vector<CarvedVariant> Carved;
};

} // namespace carve
