/// \file
/// Reads what the probe saw and timed in one run of a workload. Tracing and timing both work on
/// this record.
#pragma once

#include "Protocol/CountRecords.h"
#include "Protocol/TraceRecords.h"
#include "Workload/CounterRecords.h"
#include "Workload/InRunRecord.h"
#include "Workload/InRunRecords.h"
#include "Workload/KernelArguments.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace carve {

/// The records of all processes of one run.
struct ProbeRecord {
  unsigned Processes = 0;
  std::vector<DeviceInfo> Devices;
  std::set<std::string> Containers; ///< Digests of the device containers that were loaded.
  std::set<std::string> Swapped;    ///< Digests of containers that were replaced.
  /// Containers that could not be replaced: reasons by digest.
  std::map<std::string, std::string> Unswapped;
  std::set<std::string> Modules; ///< Digests of the images that the driver loaded from containers.
  std::vector<KernelLaunches> Kernels;
  std::set<std::string> Queried; ///< Kernels whose attributes or occupancy the program asks for.
  /// The kernels of these whose occupancy it asks for. Their grids may be chosen to fit it.
  std::set<std::string> SizedByOccupancy;
  std::map<std::string, uint64_t> GraphLaunches; ///< Launches from graphs, by kernel.
  std::map<std::string, uint64_t> GraphNs;       ///< The time of these launches, by kernel.
  /// Why graphs with a kernel are not launched node by node, by kernel: one reason, if there is one
  /// with which the graph cannot even rotate variants (Protocol/GraphRotation.h) such a one. The
  /// kernel `-` means that the kernels of such a graph are not known.
  std::map<std::string, GraphStay> StayingGraphs;
  std::set<std::string> Programmatic; ///< Kernels launched before their predecessor ends.
  /// What calls that launch kernels passed as arguments, by kernel. Kernels that the program itself
  /// adds to a graph are launched by no such call.
  std::map<std::string, KernelArguments> Arguments;
  /// How the time of launches with one shape is divided among those with different arguments.
  std::vector<TracedClass> Classes;
  /// The typical launches of shapes. If several processes have some, those of the first count.
  std::vector<TypicalLaunches> Typical;
  /// The segments of shapes whose launches take different times, in their order. If several
  /// processes have some, those of the first count.
  std::vector<TracedSegment> Segments;
  std::map<HazardKind, std::set<std::string>> Hazards; ///< Driver calls that the program makes.
  InRunRecord InRun;                                   ///< The records of a timing run.
  /// The counters of a run with counted images that are not 0: by variable, and then by index.
  std::map<std::string, std::map<size_t, uint64_t>> Counted;
  std::set<std::string> Uncounted; ///< Why some of these counts are lost.
  HardwareRecord Hardware;         ///< The records of a run with hardware counters.
  /// The time from the first kernel's start to the last one's end, and the part of it in which a
  /// kernel ran. Both are sums over the processes, and 0 if no kernel was recorded.
  uint64_t SpanNs = 0, BusyNs = 0;
  uint64_t Dropped = 0;        ///< Activity records that were lost.
  std::set<std::string> Aside; ///< Why the probe did nothing in some process.
  unsigned Incomplete = 0;     ///< Processes that ended before their record was complete.
  unsigned Faulted = 0;        ///< Processes that the probe ended because a variant had a fault.
  unsigned Running = 0;        ///< Processes that still ran after the program had ended.
  /// The pids of processes that loaded device code and whose record has no end. They may have ended
  /// or may still run.
  std::set<unsigned> Unfinished;

  /// Why the times are not those of the whole program, or nothing if they are. A run with a fault
  /// has also ended early, but InRun.Faults tells that. Other processes may be incomplete because
  /// of it.
  std::optional<std::string> whyIncomplete() const;
  /// Why no single image fits the whole program, or nothing if one does. The reason is that its
  /// GPUs have different architectures.
  std::optional<std::string> whyMixed() const;
  /// GPU time of all kernels, in ns.
  uint64_t totalNs() const;
  /// GPU time of the kernels in \p Names, in ns.
  uint64_t totalNs(const std::set<std::string> &Names) const;
  /// Why \p Kernel, which graphs launch, has launches into which the probe cannot step: a graph
  /// with it is not launched node by node. Nothing if there is no such graph. If it is not known
  /// which kernels such a graph has, it may have any.
  std::optional<std::string> whyInGraphs(const std::string &Kernel) const;
  /// The share of GPU time in kernels that graphs launched, 0 to 1.
  double graphShare() const;
  /// The arguments of \p Kernel that had the same value at every launch in every process, by rising
  /// parameter. Empty if there are none, or if they are not known.
  std::vector<ArgumentValue> sameArguments(const std::string &Kernel) const;
  /// The same for the launches with the grid and block of \p Shape.
  std::vector<ArgumentValue> sameArguments(const std::string &Kernel,
                                           const LaunchShape &Shape) const;
};

/// Adds the records of one process (Protocol/TraceRecords.h), which are in \p Text, to \p Record. A
/// last line without its newline, as a killed process leaves it, is ignored. A process counts as
/// incomplete if its record has no end, unless it loaded no device code (such as a launcher, or a
/// program that only asks for devices) or the probe ended it for a fault. Rounds and cycles get new
/// numbers after those of earlier processes, so that each belongs to one process. Fails if a line
/// does not have the expected fields; the error names \p Name, the line, what it has, and what was
/// expected.
llvm::Error readProbeFile(llvm::StringRef Text, llvm::StringRef Name, ProbeRecord &Record);

/// Adds what one process timed. Its rounds and cycles get numbers after those of earlier processes,
/// so that a round never pairs the times of two processes.
void addInRun(InRunRecord &All, InRunRecord New);

/// Prints devices, launches, trace facts and timing records in the form that readProbeFile() reads.
std::string printProbeRecord(const ProbeRecord &Record);

/// Reads the records of all processes that wrote into \p Dir. Fails as readProbeFile(), or if a
/// file cannot be read.
llvm::Expected<ProbeRecord> readProbeDirectory(llvm::StringRef Dir);

} // namespace carve
