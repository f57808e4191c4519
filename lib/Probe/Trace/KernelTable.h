/// \file
/// Sums kernel activity per kernel and launch shape, between the CUPTI buffers and the record file.
/// It is pure: it knows neither CUPTI nor files.
#pragma once

#include "Probe/Trace/NameMap.h"
#include "Protocol/LaunchShape.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace carve::probe {

/// Everything by which two launches of a kernel belong to separate records. It is hashed and
/// compared as bytes, and therefore has only 32-bit fields and no padding.
struct KernelShape : LaunchShape {
  uint32_t StaticSmemBytes = 0;
  uint32_t Cooperative = 0;
  uint32_t Registers = 0;
  uint32_t LocalBytesPerThread = 0;

  bool operator==(const KernelShape &) const = default;
};

/// The sums since the process started. Not synchronised: the caller locks.
class KernelTable {
public:
  /// The number of distinct shapes that are kept for one kernel. Launches with further shapes are
  /// merged into the shape with grid 0,0,0, so that a program whose grids never repeat uses bounded
  /// memory.
  static constexpr size_t MaxShapesPerKernel = 4096;

  /// Adds one launch of the kernel with the mangled \p Name that took \p TimeNs. \p LocalBytesTotal
  /// is the local memory of the whole launch; \p FromGraph says that a graph launched it.
  void add(std::string_view Name, const KernelShape &Shape, uint64_t TimeNs,
           uint64_t LocalBytesTotal, bool FromGraph = false);

  /// Returns the `kernel` and `graph` lines of the launches that were added since the last call;
  /// empty if there were none.
  std::string drain();

private:
  struct ShapeHash {
    size_t operator()(const KernelShape &Shape) const;
  };
  struct Sum {
    uint64_t Launches = 0, TotalNs = 0, MinNs = UINT64_MAX, LocalBytesTotal = 0;
    uint64_t FromGraphs = 0, FromGraphsNs = 0; ///< The launches that graphs made, and their time.
  };
  using Shapes = std::unordered_map<KernelShape, Sum, ShapeHash>;

  Sum &sumOf(Shapes &Known, std::string_view Name, KernelShape Shape);

  NameMap<Shapes> Kernels;
  /// The entries that add() changed since the last drain(). Nodes of an unordered_map do not move.
  std::vector<std::pair<std::string_view, Shapes::value_type *>> Dirty;
};

} // namespace carve::probe
