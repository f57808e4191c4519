/// \file
/// The files that the tools and the probe exchange, and what each kind of record in them is. A
/// record is a line of fields separated by tabs; the first is the word of its kind.
///
/// Every kind of record is a struct with its Kind and one function `fields(Record, Visit)`, which
/// names each field once, in the order of the line. RecordWriter, RecordReader and RecordTable
/// visit the fields with it, so that writer, reader and documentation cannot differ.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace carve {

enum class ProtocolSide { Tool, Probe };

/// A kind of file. Its first line is the word and the version.
struct ProtocolFile {
  std::string_view Head;
  int Version;
  ProtocolSide Writer;
};

/// What a traced process leaves, `<CARVE_PROBE_DIR>/<pid>-<nanoseconds>.probe`.
inline constexpr ProtocolFile ProbeFile{"carve-probe", 1, ProtocolSide::Probe};
/// What is to be timed in a run (CARVE_PROBE_PLAN).
inline constexpr ProtocolFile PlanFile{"carve-plan", 1, ProtocolSide::Tool};
/// Which hardware counters are to be taken (CARVE_PROBE_METRICS).
inline constexpr ProtocolFile MetricsFile{"carve-metrics", 1, ProtocolSide::Tool};
/// Which launches are to be captured (CARVE_PROBE_CAPTURE).
inline constexpr ProtocolFile CapturePlanFile{"carve-capture-plan", 1, ProtocolSide::Tool};
/// What the probe says of a captured launch (CaptureProtocol.h).
inline constexpr ProtocolFile CapturedFile{"carve-captured", 1, ProtocolSide::Probe};

/// The first line of \p File, without the line's end.
inline std::string headOf(const ProtocolFile &File) {
  return std::string(File.Head) + "\t" + std::to_string(File.Version);
}

/// How often a record may be in one file.
enum class Often { Once, Many };

struct ProtocolKind {
  const ProtocolFile &File;
  std::string_view Word;
  Often Times;
};

/// No time and no count of a kernel is as large as this.
inline constexpr double MostFraction = 1e18;

/// The words of an enumeration in records, in the order of its values.
template <class E> struct RecordWords;

template <class E> constexpr std::string_view wordOf(E Value) {
  return RecordWords<E>::All[static_cast<size_t>(Value)];
}

} // namespace carve
