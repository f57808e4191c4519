/// \file
/// The sequential test of the confirmation: after how many pairs of runs it looks at the times, and
/// what the times say then. Confirmation makes the pairs and asks here whether they are enough.
///
/// It is a group-sequential test with repeated confidence intervals (Jennison and Turnbull, Group
/// Sequential Methods, 2000, chapter 9). The probability of error is spent over the looks (Lan and
/// DeMets, Discrete sequential boundaries for clinical trials, 1983). No look counts on the looks
/// before: by Bonferroni's inequality all of them together err with at most the sum of their
/// levels, which is 0.95 %, however their times depend on each other. areApart() and single runs
/// beside the traced one have no level: they only count together with what a timing run has told.
///
/// Three pairs tell little by ranks: the most extreme order of their signs comes up once in eight
/// by chance. So the first looks use Student's t. But times of GPUs have heavy tails, and some
/// programs run at two speeds, so that three pairs may agree by chance. Therefore the scatter is
/// not computed from the pairs alone, but from all runs of either version, also those before the
/// confirmation, and from what is usual. A gain that is not clear from that goes on to the ranks,
/// whose test holds for every distribution: if both versions are equally fast, the logarithm of a
/// pair's ratio is as likely d as -d.
#pragma once

#include "Tune/Selection/Statistics.h"

#include <vector>

namespace carve {

/// The times of one kernel, or of the whole program, in the pairs of one confirmation.
struct PairedTimes {
  std::vector<double> Tuned, Default; ///< As many of each as there are pairs; above 0.
  /// So many of the last pairs have no run of the default of their own: Default repeats the time of
  /// the pair before. The first pair has one.
  unsigned Sharing = 0;
  /// The same of the tuned version, in pairs that withEarlierDefaults() has made.
  unsigned SharingTuned = 0;
  /// Times of the default in runs before the confirmation. They only tell how much it scatters,
  /// unless withEarlierDefaults() makes pairs of them.
  std::vector<double> Earlier;

  size_t count() const { return Tuned.size(); }
  /// Adds a pair with the times \p OfTuned and \p OfDefault. If it \p Shares the default's run of a
  /// pair that is not here, that run counts as its own.
  void add(double OfTuned, double OfDefault, bool Shares) {
    Sharing += Shares && count() > 0;
    Tuned.push_back(OfTuned);
    Default.push_back(OfDefault);
  }
  /// The ratio tuned over default of each pair.
  std::vector<double> ratios() const;
  /// The same times, but each earlier run of the default makes a pair of its own with the last run
  /// of the tuned version. There must be a pair.
  PairedTimes withEarlierDefaults() const;
};

/// One look at the times.
struct ConfirmationLook {
  unsigned Pairs = 0; ///< It is made when there are so many pairs.
  double Level = 0;   ///< The probability that it takes a variant without gain for a faster one.
};

/// A look that is only made if there is no time for more pairs: after two of them, or after an
/// undecided look at more. It decides for candidates that a
/// timing run has nominated and that gain what that run predicts, together, or surely something
/// each by itself. Two runs that are fast and three of the default that are slow by chance come up
/// in at most 3.5 % of the programs that run at two speeds, and a timing run, which is immune to
/// that, names a variant without gain for at most one kernel of twenty. If the two pairs share a
/// run of the default, it is two of the default that have to be slow, which comes up in at most 6.3
/// %. A false winner needs an error of the timing run as well, so the level may be higher here.
inline constexpr ConfirmationLook HurriedLook = {2, 0.002};
/// The look that takes the place of the hurried one if there is time for a single pair. Each
/// earlier run of the default then makes a pair with its run of the candidates, so there are as
/// many pairs as the default has run, and two at least. One fast run and two slow ones of the
/// default come up by chance in at most 14.8 % of the programs that run at two speeds; with the
/// timing run's own error that is 0.74 %. With two runs of the default, ScatterOfMost alone makes
/// the interval reach 5.6 % to either side. No other look comes before or after it.
inline constexpr ConfirmationLook LoneLook = {1, 0.003};
/// The fewest runs that are set aside for a confirmation: they make the pairs of the hurried look,
/// two with the candidates, and one of the default.
inline constexpr unsigned FewestRuns = 3;
/// A gain that is surely as large as this is expected to be confirmed by the fewest runs: their
/// interval reaches at least 1.1 % to either side, which follows from the usual scatter.
/// Where two pairs, or three runs, surely show as much, it does not matter that a timing run has
/// predicted more than twice the gain.
inline constexpr double GainForFewestRuns = 0.05;
/// If so much of the program's time is surely gained, one pair is set aside, while the search goes
/// on: its interval reaches 5.6 % to either side (LoneLook), so kernels that gain less than
/// LeastForOnePair of their time are likely to lose by it.
inline constexpr double GainForOnePair = 0.2, LeastForOnePair = 0.06;

/// All other looks. With HurriedLook the levels sum up to 0.95 %. With nine pairs, ranks have no
/// level below 2^-9.
inline constexpr ConfirmationLook ConfirmationLooks[] = {
    {3, 0.001},   {4, 0.0003},  {5, 0.0003},  {6, 0.0003},  {7, 0.0003},  {8, 0.0003}, {9, 0.002},
    {12, 0.0004}, {15, 0.0004}, {18, 0.0004}, {21, 0.0004}, {24, 0.0004}, {27, 0.001}};

/// From so many pairs on, signed ranks take the place of Student's t.
inline constexpr unsigned RankedPairs = 9;

/// So often the default must have run before a look decides. If a program runs at two speeds, all
/// of three runs of the tuned version are fast and all of four of the default slow with a
/// probability of at most 0.84 %. With three runs of the default it would be 1.6 %.
inline constexpr unsigned LeastDefaultRuns = 4;

/// The scatter of a run's time, relative, that is expected before there is any run. It counts as
/// much as one degree of freedom of the runs, as in the moderated t statistic (Smyth, Linear models
/// and empirical Bayes methods, 2004). The GPU time of half of 111 programs scattered by less than
/// 0.04 % on an NVIDIA H200, and of three quarters by less than 0.12 %.
inline constexpr double UsualScatter = 0.002;
/// The same where the tuned version has run only once, which tells nothing of its scatter. Nine of
/// ten of these programs scattered by less.
inline constexpr double ScatterOfMost = 0.005;

/// A single run of the tuned version is compared with the traced one of the default if there is no
/// time for another one of either. Two runs show no scatter. So the run is only asked whether it
/// agrees with what a timing run has measured in another way: both gains have to be at least this,
/// and their logarithms may differ by SelectionLimits::SumTolerance. If there is time for a second
/// run of the tuned version after all, the same is asked of it.
inline constexpr double GainForOneRun = 0.08;
/// The runs of the tuned version and of the default that areApart() needs. If both versions are
/// equally fast, the former are by chance faster than all of the latter once in ten times, whatever
/// the distribution is; with the timing run's own error that is 0.5 %.
inline constexpr unsigned ApartTuned = 2, ApartDefault = 3;
/// The least gain, as predicted, for which areApart() asks. A smaller difference may be a change of
/// the GPU's clock between runs.
inline constexpr double ApartGain = 0.015;

/// The median ratio of \p Times and the interval of the ratio. Each of its ends is wrong with a
/// probability of at most \p Level. A single pair has no scatter, so both ends are its ratio.
///
/// From RankedPairs on, if they are enough for \p Level, it is signedRankInterval() of the
/// logarithms. Otherwise it is the t interval of the mean logarithm. Its standard error is the
/// larger of two: the one that the pairs' ratios show, and the one that follows if all runs are
/// independent, with the scatter of all times of both versions and the usual scatter (ScatterOfMost
/// where the tuned version has run once). The degrees of freedom are those of the latter. A run
/// that several pairs share counts once.
RatioInterval pairedInterval(const PairedTimes &Times, double Level);

/// The ratio of the medians of the tuned version and of the default, whose earlier runs count, and
/// the interval in which the ratio of any run of the one and any run of the other lies. One slow
/// run of the default, which makes pairedInterval() wide, moves only the end away from 1.
RatioInterval unpairedInterval(const PairedTimes &Times);

/// Whether all runs of the tuned version are so much faster than all runs of the default, as many
/// as ApartTuned and ApartDefault at least, that even the slowest of the former over the fastest of
/// the latter is nearer to \p Predicted than to 1. False for predictions of less than ApartGain.
bool areApart(const PairedTimes &Times, double Predicted);

/// What a variant needs to win.
struct WinningBounds {
  double Ratio = 0.995; ///< The median ratio must be at most this.
  double High = 0.997;  ///< The interval must be below this.
  /// The same as High, but without what the control's distance adds to it at this look.
  double LeastHigh = 0.997;
};

/// What a look concludes.
enum class PairedVerdict {
  Wins,
  Loses, ///< More pairs would hardly change that it does not win.
  Open,  ///< More pairs may decide.
};

/// Judges \p Times, of at least two pairs, at a look with \p Level. At most \p MostPairs may be
/// made.
///
/// A variant loses by stochastic curtailment (Lan, Simon and Halperin, Stochastically curtailed
/// tests in long-term clinical trials, 1982): even if its ratio is as low as these times allow (10
/// % error), it would be above Bounds.Ratio, or with all pairs its interval would not get below the
/// bound. That can lose a winner, and adds no false one.
PairedVerdict judgePairs(const PairedTimes &Times, double Level, const WinningBounds &Bounds,
                         unsigned MostPairs);

/// Whether \p Times support that the ratio is \p Predicted, as was measured in another way before:
/// their median is nearer to it than to 1, and a ratio of 1 is unlikely (2 %). This alone proves no
/// gain.
bool supports(const PairedTimes &Times, double Predicted);

} // namespace carve
