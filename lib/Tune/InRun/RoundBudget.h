/// \file
/// How the time of a tuning is shared out: what a default tuning may take, what is set aside for
/// the confirmation, and what one round may take. It is pure: seconds go in, seconds come out, so
/// that `carve evaluate` can follow the same rules on a table of measurements.
#pragma once

#include <cstddef>

namespace carve {

/// What can be gained of a program, in shares of its GPU time.
struct GainProspect {
  /// What a confirmation would secure now: what the best variants surely gain, at the end of their
  /// intervals that is nearer to the default, and what kernels promise that only whole runs can
  /// time.
  double InHand = 0;
  /// By how much the untried settings are expected to be faster than the best variants.
  double Promised = 0;
  /// The part of InHand that is promised by kernels that only whole runs can time.
  double ByRuns = 0;
  /// The part of nominated() that one pair of runs is expected to confirm. It is of the last round:
  /// next() does not carry it on.
  double ByOnePair = 0;
  /// What all rounds were expected to gain before they were made, and what they have gained.
  double Asked = 0, Kept = 0;
  /// How many rounds in a row, up to the last one, have hardly added to what is in hand.
  unsigned Idle = 0;
  unsigned Rounds = 0; ///< How many rounds were made.

  /// The part of InHand that timing runs have found.
  double nominated() const { return InHand - ByRuns; }
  /// Returns the prospect after one more round. \p Nominated is what timing runs have in hand now,
  /// \p Promised what the model promises, and \p ByRuns what kernels promise that only whole runs
  /// can time. Without \p RunsHaveTime these cannot try anything, and what was nominated is
  /// confirmed alone. The model's promise counts as much as its earlier promises were kept: where a
  /// round has found nothing of what was promised, the same promise is hardly a reason for the next
  /// one.
  GainProspect next(double Nominated, double Promised, double ByRuns = 0,
                    bool RunsHaveTime = true) const;
  /// Returns whether another round promises more than a confirmation, and enough to be worth a run
  /// at all. What is in hand is risked for a promise if it is less than 1 %, or if the promise is
  /// more than five times as much. Two pairs of runs confirm 2 % and more, so that is hardly at
  /// risk, and the promise needs to be 0.5 %, unless some kernels can only be timed by whole runs,
  /// or two rounds in a row have hardly found anything.
  bool favoursSearch() const;
  /// Returns whether the search is favoured, GainForOnePair is in hand, and it promises more than
  /// one pair would lose of what is in hand.
  bool needsOnePair() const;
};

/// The time of one tuning.
struct RoundBudget {
  double BudgetS = 0; ///< Seconds for the whole tuning.
  double PlainS = 0;  ///< Seconds of one run of the program.

  /// The budget of a tuning without `--budget`, in seconds: eight plain runs, but at least 20 s,
  /// scaled by \p Effort, 0 to 3 (KernelSearch).
  static double defaultS(double PlainS, unsigned Effort);

  /// Seconds that the next round may take beyond a plain run, with compiling for it, if \p SpentS
  /// seconds of the budget are used: half of what is left without confirmationS(), and without a
  /// twentieth of the budget for what neither times nor confirms; all of it if the other half has
  /// no time for one more round. The result is 0 if nothing is left. The \p First round always has
  /// some.
  double forRound(double SpentS, bool First, const GainProspect &Prospect = {}) const;

  /// Seconds that the replays of a round may take if \p SpentS seconds are used and its variants
  /// are compiled: the \p PlannedS seconds for which so many variants were compiled, as far as
  /// they are left without what forRound() sets aside, and at least RoundReplayShare of forRound().
  /// So a kernel is timed although compiling took longer than its share.
  double forReplays(double SpentS, bool First, double PlannedS,
                    const GainProspect &Prospect = {}) const;

  /// Seconds that a round may take to replay kernels that could otherwise be timed only by whole
  /// runs. These replays get the time that such runs would have: all that is left, without the
  /// confirmation and the time to compile, and at least RoundReplayShare of forRound(). In the \p
  /// First round a single run is set aside, which confirms a large gain (HurriedConfirmation): if
  /// the replay has no time, whole runs take longer and find less.
  double forLongReplays(double SpentS, bool First, const GainProspect &Prospect = {}) const;

  /// The seconds that are set aside to confirm. Where the search is not favoured, they are those of
  /// three pairs of runs. Before the first round, if \p Prospect favours the search, or if the
  /// program is so long that three pairs would leave no time for two rounds, they are:
  /// - those of one pair if GainProspect::needsOnePair();
  /// - else those of the fewest runs if timing runs have found enough for these
  ///   (GainForFewestRuns), or nothing yet: what is found so late has to be large;
  /// - else those of two pairs, which confirm a clear gain (HurriedLook).
  ///
  /// After the first round a program whose three pairs take 15 % of the budget or less has these,
  /// and a longer one at least as much time.
  double confirmationS(const GainProspect &Prospect) const;

private:
  double spareS(double SpentS, const GainProspect &Prospect) const;
};

/// The shares of a round's time. The rest is for modules that have to be assembled once more.
inline constexpr double RoundCompileShare = 0.3, RoundReplayShare = 0.4;

/// The seconds for which a later round that compiles for \p CompileS seconds may await PTX of other
/// front ends: what it has to assemble its module once more, without the \p AssemblyS seconds that
/// the last module took. Variants that join the program's own image take hardly any.
double patienceS(double CompileS, double AssemblyS);

/// How many settings a round may compile that has \p CompileS seconds for it, and as many to
/// assemble its module, where each takes \p AssemblyS seconds: at least 4, so that a program whose
/// code takes long is searched, too. If no round has told \p AssemblyS yet, it is 0, and there is
/// no limit.
size_t settingsFor(double CompileS, double AssemblyS);

/// What a replay of a kernel takes beside the runs that are timed. An earlier replay may have told.
struct ReplayCosts {
  double SaveNs = 0;      ///< Saving the memory before the first run.
  double RestoreNs = 3e5; ///< Restoring what the kernel writes and flushing L2, before each run.
  double CompareNs = 5e6; ///< Comparing all memory: about 0.5 ms for each GB (share/doc/timing.md).
  unsigned DefaultRuns = 4;  ///< Runs of the default that show what it writes.
  unsigned ComparedRuns = 1; ///< Runs that compare a variant; more if the default's output varies.
};

/// Seconds of the shortest useful replay of \p Variants, the default and its control among them, of
/// a launch that takes \p MeanNs: a comparison of each, and the fewest rounds.
double shortestReplayS(size_t Variants, double MeanNs, const ReplayCosts &Costs = {});
/// The part of shortestReplayS() that compares outputs.
double comparisonS(size_t Variants, double MeanNs, const ReplayCosts &Costs = {});

} // namespace carve
