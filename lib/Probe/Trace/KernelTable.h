/// \file
/// Sums kernel activity per kernel and launch shape, between the CUPTI buffers and the record
/// file. Pure: knows neither CUPTI nor files.
#pragma once

#include "Protocol/LaunchShape.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace carve::probe {

/// Everything that keeps two launches of a kernel in separate records. Hashed and compared as
/// bytes: 32-bit fields only, no padding.
struct KernelShape : LaunchShape {
  uint32_t StaticSmemBytes = 0;
  uint32_t Cooperative = 0;
  uint32_t Registers = 0;
  uint32_t LocalBytesPerThread = 0;

  bool operator==(const KernelShape &) const = default;
};

/// Not synchronised: the caller locks.
class KernelTable {
public:
  /// Distinct shapes kept for one kernel. Beyond it, launches are merged into the shape with grid
  /// 0,0,0, so that a program whose grids never repeat stays within bounded memory.
  static constexpr size_t MaxShapesPerKernel = 4096;

  /// Adds one launch of the kernel with the mangled \p Name.
  void add(std::string_view Name, const KernelShape &Shape, uint64_t TimeNs,
           uint64_t LocalBytesTotal, bool FromGraph = false);

  /// The `kernel` and `graph` lines of what came since the last drain; empty where nothing did.
  std::string drain();

private:
  struct ShapeHash {
    size_t operator()(const KernelShape &Shape) const;
  };
  struct NameHash {
    using is_transparent = void;
    size_t operator()(std::string_view Name) const { return std::hash<std::string_view>()(Name); }
  };
  struct Sum {
    uint64_t Launches = 0, TotalNs = 0, MinNs = UINT64_MAX, LocalBytesTotal = 0;
    uint64_t FromGraphs = 0; ///< Of the launches.
  };
  using Shapes = std::unordered_map<KernelShape, Sum, ShapeHash>;

  Sum &sumOf(Shapes &Known, std::string_view Name, KernelShape Shape);

  std::unordered_map<std::string, Shapes, NameHash, std::equal_to<>> Kernels;
  /// What add touched since the last drain; nodes of unordered_map stay where they are.
  std::vector<std::pair<std::string_view, Shapes::value_type *>> Dirty;
};

} // namespace carve::probe
