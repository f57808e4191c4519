/// \file
/// Carves a program space: finds the configurations that cannot be built or cannot win, so that
/// only the others are timed. It uses efficiency and utilization (Ryoo et al., JPDC 2008, Eq. 1 and
/// 2). SearchPipeline calls it after compiling and before timing.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace carve {

/// What carving knows of one configuration.
struct ConfigurationCost {
  std::string Name;
  std::string Invalid; ///< Why it cannot be built or launched; empty if it can.
  double Efficiency = 0, Utilization = 0;
  bool Known = true; ///< The metrics are known. If not, the configuration is selected whatever the
                     ///< others are.
};

/// The bounds of carving.
struct SpaceCarving {
  /// A configuration is cut if another is better by more than this share in one metric, and no
  /// worse in the other.
  double Margin = 0.4;
  /// Shares of the best efficiency and of the best utilization. Configurations below one of them
  /// are not timed.
  double LeastEfficiency = 0.1, LeastUtilization = 0.01;
  /// Configurations whose metrics differ by at most this share form a cluster, of which only the
  /// first is timed. If negative, there are no clusters.
  double ClusterWidth = 0.001;
  unsigned MaxSelected = 24; ///< The most configurations that are timed; 0 for no limit.
};

/// Returns the carving for an effort of 0 to 3. With more effort, the margin and the number of
/// timed configurations grow.
SpaceCarving carvingOfEffort(unsigned Effort);

/// The step of carving that cut a configuration. Nothing means that it is selected.
enum class CarvedBy { Nothing, Invalid, Threshold, Cluster, Pareto, Budget };

/// Returns the word for \p By in reports: `selected`, `invalid`, `threshold`, ...
const char *nameOf(CarvedBy By);

/// What carving decides about one configuration.
struct CarvingVerdict {
  CarvedBy By = CarvedBy::Nothing;
  std::string Reason; ///< For the user, with the values and the configuration to which it yields.
  bool Front = false; ///< No other valid configuration dominates it.
};

/// Returns a verdict for each of \p Costs, in their order. Invalid configurations are cut first,
/// then those below a threshold, then all but one of each cluster, then those that the Pareto front
/// beats by the margin. If more than MaxSelected remain, those that are farthest apart are kept.
std::vector<CarvingVerdict> carveConfigurations(llvm::ArrayRef<ConfigurationCost> Costs,
                                                const SpaceCarving &Limits);

} // namespace carve
