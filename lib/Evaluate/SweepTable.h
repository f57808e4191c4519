/// \file
/// A table of measurements: the GPU time of every kernel of some programs under many settings, one
/// row for each program, kernel, launch shape and setting. Read by `carve evaluate`.
#pragma once

#include "Protocol/LaunchShape.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// What nvcc's steps were given.
struct SweepSetting {
  std::optional<unsigned> FrontEndCap;                     ///< cicc's `-maxreg`.
  std::optional<unsigned> PtxasCap;                        ///< ptxas' `-maxrregcount`.
  unsigned RegisterUsageLevel = DefaultRegisterUsageLevel; ///< ptxas' `--register-usage-level`.
  std::string Dlcm;                                        ///< ptxas' `-dlcm`; empty: not given.
  bool SmemSpilling = false; ///< Spilling to shared memory is enabled.

  static constexpr unsigned DefaultRegisterUsageLevel = 5; ///< ptxas' own.
  bool isDefault() const { return *this == SweepSetting(); }
  auto operator<=>(const SweepSetting &) const = default;
};

/// What is known of a row's code besides its registers; absent where the table does not say.
struct SweepMetrics {
  std::optional<unsigned> SpillBytes;            ///< Stores and loads as they stand in the code.
  std::optional<double> Occupancy;               ///< 0 to 1.
  std::optional<double> Efficiency, Utilization; ///< Of Metrics/Counts/Metrics.h; above 0.
};

struct SweepRow {
  std::string Program, Kernel; ///< The kernel mangled.
  LaunchShape Shape;
  unsigned StaticSmemBytes = 0;
  SweepSetting Setting;
  unsigned RegsPerThread = 0;
  uint64_t Launches = 0;
  double TotalNs = 0; ///< Over the launches.
  SweepMetrics Metrics;
};

/// The rows of \p Text, tab-separated under a header, in their order. Columns may stand in any
/// order. `program kernel grid block static_smem_bytes dynamic_smem_bytes frontend_cap ptxas_cap
/// register_usage_level dlcm regs_per_thread launches total_ns` must be there; these may be:
/// `smem_spilling` (0 or 1), `spill_bytes`, `occupancy` (0 to 1), `efficiency` and `utilization`
/// (0: not known), each `-` where the row has none. Others are passed over, as are empty lines.
/// Fails naming \p Name, line, column, the actual and the expected.
llvm::Expected<std::vector<SweepRow>> parseSweepTable(llvm::StringRef Text, llvm::StringRef Name);

} // namespace carve
