/// \file
/// What the probe saw and timed in one run of a workload: the record that tracing and timing start
/// from.
#pragma once

#include "Protocol/CountRecords.h"
#include "Protocol/TraceRecords.h"
#include "Workload/CounterRecords.h"
#include "Workload/InRunRecord.h"
#include "Workload/InRunRecords.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace carve {

struct ProbeRecord {
  unsigned Processes = 0;
  std::vector<DeviceInfo> Devices;
  std::set<std::string> Containers; ///< Digests of the device containers that were loaded.
  std::set<std::string> Swapped;    ///< Of these, the replaced ones.
  std::map<std::string, std::string> Unswapped; ///< Digest to the reason.
  std::set<std::string> Modules; ///< Digests of the images that the driver made of them.
  std::vector<KernelLaunches> Kernels;
  std::set<std::string> Queried; ///< Kernels whose attributes or occupancy were asked for.
  /// Of these, the ones whose occupancy was: their grids may be made to fit it.
  std::set<std::string> SizedByOccupancy;
  std::map<std::string, uint64_t> GraphLaunches; ///< Of a kernel: those started from graphs.
  std::set<std::string> Programmatic; ///< Kernels launched before their predecessor ends.
  std::map<HazardKind, std::set<std::string>> Hazards; ///< Driver calls that the program makes.
  InRunRecord InRun;                                   ///< Of a timing run.
  /// Of a run with counters: those that are not 0, by variable.
  std::map<std::string, std::map<size_t, uint64_t>> Counted;
  std::set<std::string> Uncounted; ///< Why some counts of it are lost.
  HardwareRecord Hardware;         ///< Of a run with hardware counters.
  /// From the first kernel's start to the last one's end, and of that the time in which any ran;
  /// sums over the processes. 0 if none of their kernels was recorded.
  uint64_t SpanNs = 0, BusyNs = 0;
  uint64_t Dropped = 0;        ///< Activity records lost.
  std::set<std::string> Aside; ///< Why the probe did nothing in some process.
  unsigned Incomplete = 0;     ///< Processes that were killed before their record was whole.
  unsigned Faulted = 0;        ///< Processes that the probe ended: their variant was at fault.
  unsigned Running = 0;        ///< Processes that the program has left behind at work.
  /// The numbers of processes, ended or not, that loaded device code and whose record has no end.
  std::set<unsigned> Unfinished;

  /// Why the times are not those of the whole program, or nothing. A run with a fault has ended
  /// early as well, which InRun.Faults tells; other processes may be incomplete because of it.
  std::optional<std::string> whyIncomplete() const;
  /// Why no image fits the whole program: its GPUs are of different architectures. Or nothing.
  std::optional<std::string> whyMixed() const;
  /// GPU time of all kernels.
  uint64_t totalNs() const;
  /// GPU time of the kernels in \p Names.
  uint64_t totalNs(const std::set<std::string> &Names) const;
};

/// Adds the records of one process (Protocol/TraceRecords.h) to \p Record. Fails naming \p Name and
/// the line where one does not have the fields expected, with what it has and what was expected. A
/// last line without its end, as a killed process leaves it, is passed over. A process that loaded
/// no device code, as a launcher or a program that only asks for devices, may end as it likes; so
/// does one that the probe ended for a fault. Rounds and cycles are numbered anew behind those of
/// the processes before, so that each is of one process.
llvm::Error readProbeFile(llvm::StringRef Text, llvm::StringRef Name, ProbeRecord &Record);

/// Devices, launches, trace facts and what was timed, in the form that readProbeFile() reads.
std::string printProbeRecord(const ProbeRecord &Record);

/// The records of all processes that wrote into \p Dir.
llvm::Expected<ProbeRecord> readProbeDirectory(llvm::StringRef Dir);

} // namespace carve
