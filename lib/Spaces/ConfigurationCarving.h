/// \file
/// Carving of a program space: which configurations cannot be built or cannot win, and which are
/// left to be timed. Rests on efficiency and utilization (Ryoo et al., JPDC 2008, Eq. 1 and 2).
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace carve {

/// What carving knows of a configuration.
struct ConfigurationCost {
  std::string Name;
  std::string Invalid; ///< Why it cannot be built or launched; empty: it can.
  double Efficiency = 0, Utilization = 0;
  bool Known = true; ///< The metrics are; else it is selected whatever the others are.
};

struct SpaceCarving {
  /// How much better another configuration has to be in one metric, and no worse in the other.
  double Margin = 0.4;
  /// Shares of the best efficiency and of the best utilization, below which nothing is timed.
  double LeastEfficiency = 0.1, LeastUtilization = 0.01;
  /// Configurations whose metrics differ by less than this part are one cluster, of which the first
  /// is timed. Below 0: no clusters.
  double ClusterWidth = 0.001;
  unsigned MaxSelected = 24; ///< 0: no limit.
};

/// The carving for an effort of 0 to 3: margin and number to be timed grow.
SpaceCarving carvingOfEffort(unsigned Effort);

enum class CarvedBy { Nothing, Invalid, Threshold, Cluster, Pareto, Budget };

/// One word for each, as reports write them: `selected`, `invalid`, `threshold`, ...
const char *nameOf(CarvedBy By);

struct CarvingVerdict {
  CarvedBy By = CarvedBy::Nothing;
  std::string Reason; ///< For a person, with the values and the configuration that it yields to.
  bool Front = false; ///< No other valid configuration is at least as good in both metrics.
};

/// A verdict for each of \p Costs, in their order: invalid ones out, then thresholds, clusters,
/// Pareto with the margin, and where more than MaxSelected are left those that lie most apart.
std::vector<CarvingVerdict> carveConfigurations(llvm::ArrayRef<ConfigurationCost> Costs,
                                                const SpaceCarving &Limits);

} // namespace carve
