/// \file
/// Sums the times of a kernel's launches by the values of their scalar arguments, between the
/// launch callbacks, the kernel records and the record file. It is pure: it knows neither the
/// driver nor files.
#pragma once

#include "Probe/Trace/NameMap.h"
#include "Protocol/LaunchShape.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace carve::probe {

/// The classes of a process's launches. Thread-safe.
class LaunchClasses {
public:
  /// Launches are told apart in at most so many shapes of a kernel, those that come first.
  static constexpr size_t MostShapes = 32;
  /// Launches of a shape with more different values than these are not told apart: such as those of
  /// a kernel that gets the number of the time step.
  static constexpr size_t MostClasses = 64;

  /// Takes note that \p Kernel was launched with scalar arguments that have the key \p Key: by a
  /// call with the id \p Correlation, or, with \p ByNode, by a node of the graph that this call
  /// launches. The nodes of a graph come in the order in which they run.
  void launched(std::string_view Kernel, const LaunchShape &Shape, uint64_t Key,
                uint64_t Correlation, bool ByNode = false);
  /// Takes note that a launch of \p Kernel took \p Ns. \p Correlation is the id in its record,
  /// which is that of the call, or of the runtime's call around it. Ids rise from call to call, so
  /// the launch is the first of which the call's id is not below it.
  void recorded(std::string_view Kernel, const LaunchShape &Shape, uint64_t Correlation,
                uint64_t Ns);
  /// Takes note that launches of \p Kernel cannot be told apart: not all arguments can be read.
  void giveUp(std::string_view Kernel);

  /// Returns the `class` lines: of the shapes with two classes or more, and not too many.
  std::string lines();

private:
  /// Launches in a row that have the same key and no record yet. Some never get one, because the
  /// call only adds a node to a graph that is recorded: a later id passes over them. All nodes of a
  /// graph have one id, so these are never in a row with such calls.
  struct Waiting {
    uint64_t Key = 0;
    bool ByNode = false;
    uint64_t LastId = 0, Count = 0;
  };
  struct Sum {
    uint64_t Launches = 0, TotalNs = 0;
  };
  struct Launched {
    LaunchShape Shape; ///< As the records have it.
    std::deque<Waiting> Runs;
    std::map<uint64_t, Sum> Classes; ///< By key.
    bool TooMany = false;
  };
  struct Kernel {
    std::map<LaunchShape, Launched> Shapes;
    bool Unknown = false;
  };

  std::mutex Lock; ///< Protects the members below.
  NameMap<Kernel> Kernels;
};

} // namespace carve::probe
