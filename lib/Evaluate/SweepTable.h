/// \file
/// Reads a table of measurements: the GPU time of every kernel of some programs under many
/// settings, with one row for each program, kernel, launch shape and setting. `carve evaluate`
/// reads it first.
#pragma once

#include "Nvcc/FrontEndSetting.h"
#include "Protocol/LaunchShape.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// The options that nvcc's steps were given.
struct SweepSetting {
  std::optional<unsigned> FrontEndCap;                     ///< cicc's `-maxreg`.
  std::optional<unsigned> PtxasCap;                        ///< ptxas' `-maxrregcount`.
  unsigned RegisterUsageLevel = DefaultRegisterUsageLevel; ///< ptxas' `--register-usage-level`.
  std::string Dlcm;                           ///< ptxas' `-dlcm`; empty if it was not given.
  bool SmemSpilling = false;                  ///< Registers are spilled to shared memory.
  FrontEndKnob FrontEnd = FrontEndKnob::None; ///< What else cicc was told.
  bool Restrict = false;                      ///< Pointers were restrict.
  bool KnownPtx = false; ///< What is known of the launches was put into the PTX.
  std::optional<unsigned> OptimizationLevel = {}; ///< ptxas' `--opt-level`.

  static constexpr unsigned DefaultRegisterUsageLevel = 5; ///< The default of ptxas.
  bool isDefault() const { return *this == SweepSetting(); }
  auto operator<=>(const SweepSetting &) const = default;
};

/// What is known of a row's code besides its registers. A member is absent if the table does not
/// say.
struct SweepMetrics {
  /// Bytes of spill stores and loads, each counted once, as in the code.
  std::optional<unsigned> SpillBytes;
  std::optional<double> Occupancy;               ///< 0 to 1.
  std::optional<double> Efficiency, Utilization; ///< As in Metrics/Counts/Metrics.h; above 0.
};

/// One row of the table.
struct SweepRow {
  std::string Program, Kernel; ///< The kernel's name is mangled.
  LaunchShape Shape;
  unsigned StaticSmemBytes = 0;
  SweepSetting Setting;
  unsigned RegsPerThread = 0;
  uint64_t Launches = 0;
  double TotalNs = 0; ///< Sum over the launches.
  SweepMetrics Metrics;
};

/// Returns the rows of \p Text in their order. The text is tab-separated and has a header. The
/// columns may have any order. Required are `program kernel grid block static_smem_bytes
/// dynamic_smem_bytes frontend_cap ptxas_cap register_usage_level dlcm regs_per_thread launches
/// total_ns`. Optional are `smem_spilling` (0 or 1), `front_end_knob` (its name in variants),
/// `restrict` and `known_ptx` (0 or 1), `optimization_level` (1), `spill_bytes`, `occupancy` (0 to
/// 1), `efficiency` and `utilization` (0 means not known); each is `-` if a row does not have it.
/// Other columns and empty lines are ignored. Fails with \p Name, line, column, the actual and the
/// expected value.
llvm::Expected<std::vector<SweepRow>> parseSweepTable(llvm::StringRef Text, llvm::StringRef Name);

} // namespace carve
