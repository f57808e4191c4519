/// \file
/// Defines the record of a search through a program's space: every configuration with its metrics,
/// its verdict and its times, and which one won. The report prints it and the store keeps it.
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

/// A kernel of a configuration, with the launch for which its metrics were computed.
struct SearchedKernel {
  std::string Name; ///< Mangled name.
  ProgramLaunch Launch;
  StaticMetrics Metrics;
};

/// What runs of a configuration have shown. A cost is the GPU time in ns or the user's metric, in a
/// form in which smaller is better.
struct ConfigurationTimes {
  std::vector<double> Costs;     ///< Cost of every run.
  std::vector<double> Screened;  ///< Cost over that of the first configuration in the same round,
                                 ///< for each screening round.
  std::vector<double> Confirmed; ///< The same for each confirmation round.
  double WallS = 0;              ///< Wall time of all runs.
  double FirstWallS = 0;         ///< Wall time of the first run.
  std::string Fault;             ///< Why it cannot win: it failed, or its output differs.

  /// Returns true if the configuration was run.
  bool measured() const { return !Costs.empty() || !Fault.empty(); }
  /// Returns the median over the confirmation rounds, or over the screening rounds if there are
  /// none. The configuration must have been measured without a fault.
  double ratio() const;
  /// Returns the median over the screening rounds. The configuration must have been screened
  /// without a fault.
  double screenedRatio() const { return ratioInterval(Screened).Median; }
};

/// One configuration with everything that the search found of it.
struct SearchedConfiguration {
  Configuration Macros;
  std::string Invalid; ///< Why it was not built or cannot be launched; empty if it can.
  std::vector<SearchedKernel> Kernels;
  /// Metrics of all its kernels: 1 / (sum of Instr x threads), and the mean of the kernels'
  /// utilizations weighted by Instr x threads.
  double Efficiency = 0, Utilization = 0;
  bool Counted = false; ///< The code could be read for these metrics.
  double CompileS = 0;  ///< Time to compile it to device code, in seconds.
  double BuildS = 0;    ///< Time to build the program, in seconds; 0 if it was not built.
  CarvingVerdict Verdict;
  ConfigurationTimes Times;
  bool FromStore = false; ///< Its times come from an earlier search.

  bool valid() const { return Invalid.empty(); }
  bool selected() const { return Verdict.By == CarvedBy::Nothing; }
  /// Returns what carving needs to know of it.
  ConfigurationCost cost() const {
    return {Macros.name(), Invalid, Efficiency, Utilization, Counted};
  }
};

/// A file from which the configurations are compiled.
struct SearchInput {
  std::string Path, Digest;
  bool operator==(const SearchInput &) const = default;
};

/// The record of one search.
struct SearchRecord {
  std::string Date, Command, Space, Where, NvccVersion;
  /// The architecture of the metrics, and the name of the GPU; empty without a GPU.
  std::string Arch, Device;
  unsigned Sms = 0;   ///< SMs of that GPU; 0 if not known.
  std::string Metric; ///< `GPU time`, or the user's regular expression.
  std::vector<SearchInput> Inputs;
  /// Size of the space, including the configurations that --where leaves out.
  size_t Combinations = 0;
  std::vector<SearchedConfiguration> Configurations;
  SpaceCarving Carving;
  bool Exhaustive = false;
  /// Place of the configuration with which the others are compared: the first that can be run.
  std::optional<size_t> Reference;
  std::optional<size_t> Winner;
  RatioInterval WinnerRatio;                  ///< Cost over the reference's.
  size_t Compiled = 0, Timed = 0;             ///< Numbers of configurations in this search.
  unsigned Runs = 0;                          ///< Runs of the program in this search.
  double CompileS = 0, BuildS = 0, TimeS = 0; ///< Wall time of the stages of this search.
  /// The file that the command makes, and the digest of the winner's.
  std::string Output, OutputDigest;
  bool OutputKept = false;        ///< The winner was there already.
  std::vector<std::string> Notes; ///< For the user.
  std::string NotTimed;           ///< Why nothing was timed; empty if it was.
};

/// Rows of Ryoo et al.'s Tables 4 and 5, for an exhaustive search.
struct SearchSummary {
  size_t Valid = 0, Selected = 0;
  double SpaceReduction = 0; ///< Share of the valid configurations that was not selected.
  double AllRunS = 0, SelectedRunS = 0; ///< One run of each configuration.
  /// The same including their builds, and for the selected ones including the compilation of all
  /// configurations to device code.
  double AllEvaluationS = 0, SelectedEvaluationS = 0;
  /// Performance (1 / cost) over that of the best configuration: of the best selected one, and the
  /// expected performance of the best of as many configurations drawn at random.
  double SelectedOverBest = 0, RandomOverBest = 0;
  size_t Best = 0, BestSelected = 0; ///< Places in SearchRecord::Configurations.
};

/// Returns the rows of \p Record, or nothing if some valid configuration was not measured.
std::optional<SearchSummary> summaryOf(const SearchRecord &Record);

} // namespace carve
