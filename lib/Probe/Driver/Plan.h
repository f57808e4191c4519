/// \file
/// What the tuner wants timed in this run: the file that CARVE_PROBE_PLAN names (Protocol.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace carve::probe {

/// What tells launches of one kernel apart, as far as the tuner is concerned.
struct LaunchShape {
  std::array<uint32_t, 3> Grid{1, 1, 1}, Block{1, 1, 1};
  uint32_t DynamicSmemBytes = 0;
  std::array<uint32_t, 3> Cluster{1, 1, 1};

  auto operator<=>(const LaunchShape &) const = default;
  uint32_t threadsPerBlock() const { return Block[0] * Block[1] * Block[2]; }
};

enum class TimingMode { Replay, Rotate, VerifyRotate };

struct PlannedShape {
  LaunchShape Shape;
  uint64_t Launches = 0; ///< In the traced run.
  double MeanNs = 0;     ///< Of the default, there.
};

struct PlannedKernel {
  std::string Name;
  TimingMode Mode = TimingMode::Replay;
  bool MayRotate = false;          ///< Where it cannot be replayed.
  std::vector<std::string> Clones; ///< Variants 1, 2, ...
  std::set<size_t> Excluded;       ///< Variants not to be run.
  std::set<size_t> Measured;       ///< Variants that compute something else and are only timed.
  std::vector<PlannedShape> Shapes;

  const PlannedShape *find(const LaunchShape &Shape) const;
  size_t variants() const { return Clones.size() + 1; }
  /// Whether launches of the program's own may run variants.
  bool mayBecomeVariants() const { return MayRotate || Mode != TimingMode::Replay; }
};

struct Plan {
  uint64_t Seed = 1;
  uint64_t ReplayMs = 0; ///< For all replays of this process; 0: no limit.
  uint64_t HangMs = 10'000;
  std::unordered_map<std::string, PlannedKernel> Kernels;

  const PlannedKernel *find(std::string_view Kernel) const;
  /// Reads \p File. False where it cannot be read, is of another version, or has a line that is
  /// not the protocol's: a plan that is half understood times the wrong thing.
  bool read(const char *File);
};

} // namespace carve::probe
