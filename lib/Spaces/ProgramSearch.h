/// \file
/// The record of a search through a program's space: every configuration with its metrics, what
/// became of it and what was measured, and which one won. What the report prints and the store
/// remembers.
#pragma once

#include "Metrics/Counts/Metrics.h"
#include "Spaces/ConfigurationCarving.h"
#include "Spaces/ProgramLaunch.h"
#include "Spaces/ProgramSpace.h"
#include "Tune/Selection/Statistics.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// A kernel of a configuration in the launch that its metrics are of.
struct SearchedKernel {
  std::string Name; ///< Mangled.
  ProgramLaunch Launch;
  StaticMetrics Metrics;
};

/// What runs of a configuration have shown. A cost is the GPU time in ns, or the user's metric so
/// that smaller is better.
struct ConfigurationTimes {
  std::vector<double> Costs;     ///< Of every run.
  std::vector<double> Screened;  ///< Over the cost of the first configuration in the same round,
  std::vector<double> Confirmed; ///< and the same of the rounds that confirm.
  double WallS = 0;              ///< Of all runs together.
  double FirstWallS = 0;         ///< Of the first run.
  std::string Fault;             ///< Why it cannot win: it failed, or its output differs.

  bool measured() const { return !Costs.empty() || !Fault.empty(); }
  /// Median of the confirming rounds, where there are none of the screening; must have been
  /// measured without a fault.
  double ratio() const;
  /// Median of the screening rounds; must have been measured there without a fault.
  double screenedRatio() const { return ratioInterval(Screened).Median; }
};

struct SearchedConfiguration {
  Configuration Macros;
  std::string Invalid; ///< Why it was not built or cannot be launched.
  std::vector<SearchedKernel> Kernels;
  /// Of all its kernels' work: 1 / sum of Instr x threads, and the mean of their utilizations,
  /// weighted by that work.
  double Efficiency = 0, Utilization = 0;
  bool Counted = false; ///< The code could be read for these.
  double CompileS = 0;  ///< To its device code.
  double BuildS = 0;    ///< To the program; 0 where it was not built.
  CarvingVerdict Verdict;
  ConfigurationTimes Times;
  bool FromStore = false; ///< What was measured is of an earlier search.

  bool valid() const { return Invalid.empty(); }
  bool selected() const { return Verdict.By == CarvedBy::Nothing; }
  ConfigurationCost cost() const {
    return {Macros.name(), Invalid, Efficiency, Utilization, Counted};
  }
};

/// A file that a configuration's code comes from.
struct SearchInput {
  std::string Path, Digest;
  bool operator==(const SearchInput &) const = default;
};

struct SearchRecord {
  std::string Date, Command, Space, Where, NvccVersion;
  std::string Arch, Device; ///< That the metrics are of; name of the GPU, empty without one.
  unsigned Sms = 0;         ///< Of that GPU; 0: not known.
  std::string Metric;       ///< `GPU time`, or the user's regular expression.
  std::vector<SearchInput> Inputs;
  size_t Combinations = 0; ///< Of the space, those that --where leaves out included.
  std::vector<SearchedConfiguration> Configurations;
  SpaceCarving Carving;
  bool Exhaustive = false;
  /// Place of the configuration that others are compared with: the first that can be run.
  std::optional<size_t> Reference;
  std::optional<size_t> Winner;
  RatioInterval WinnerRatio;                  ///< Cost over the reference's.
  size_t Compiled = 0, Timed = 0;             ///< Configurations, in this search.
  unsigned Runs = 0;                          ///< Of the program, in this search.
  double CompileS = 0, BuildS = 0, TimeS = 0; ///< Wall time of this search's stages.
  std::string Output, OutputDigest;           ///< What the command makes, and that of the winner.
  bool OutputKept = false;                    ///< The winner stood there already.
  std::vector<std::string> Notes;             ///< For a person.
  std::string NotTimed;                       ///< Why nothing was timed; empty: it was.
};

/// Rows of Ryoo et al.'s Tables 4 and 5, of an exhaustive search.
struct SearchSummary {
  size_t Valid = 0, Selected = 0;
  double SpaceReduction = 0;            ///< Part of the valid configurations that was not selected.
  double AllRunS = 0, SelectedRunS = 0; ///< One run of each configuration.
  /// The same with building them, and for the selected ones with compiling all to device code.
  double AllEvaluationS = 0, SelectedEvaluationS = 0;
  /// Performance (1 / cost) over that of the best configuration: of the best selected one, and what
  /// is to be expected of the best of as many drawn at random.
  double SelectedOverBest = 0, RandomOverBest = 0;
  size_t Best = 0, BestSelected = 0; ///< Places.
};

/// The rows of \p Record; nothing where not every valid configuration was measured.
std::optional<SearchSummary> summaryOf(const SearchRecord &Record);

} // namespace carve
