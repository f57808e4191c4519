/// \file
/// The files that the tools and the probe exchange, and the definition of a kind of record in them.
/// A record is a line of fields separated by tabs; the first field is the word of its kind.
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

/// A kind of file. Its first line is its word and its version.
struct ProtocolFile {
  std::string_view Head;
  int Version;
  ProtocolSide Writer;
};

/// What a traced process writes: `<CARVE_PROBE_DIR>/<pid>-<nanoseconds>.probe`.
inline constexpr ProtocolFile ProbeFile{"carve-probe", 1, ProtocolSide::Probe};
/// What is timed in a run (CARVE_PROBE_PLAN).
inline constexpr ProtocolFile PlanFile{"carve-plan", 1, ProtocolSide::Tool};
/// Which hardware counters are read (CARVE_PROBE_METRICS).
inline constexpr ProtocolFile MetricsFile{"carve-metrics", 1, ProtocolSide::Tool};
/// Which launches are captured (CARVE_PROBE_CAPTURE).
inline constexpr ProtocolFile CapturePlanFile{"carve-capture-plan", 1, ProtocolSide::Tool};
/// What the probe writes about a captured launch (CaptureProtocol.h).
inline constexpr ProtocolFile CapturedFile{"carve-captured", 1, ProtocolSide::Probe};

/// Returns the first line of \p File without its newline.
inline std::string headOf(const ProtocolFile &File) {
  return std::string(File.Head) + "\t" + std::to_string(File.Version);
}

/// How many times a record may be in one file.
enum class Often { Once, Many };

struct ProtocolKind {
  const ProtocolFile &File;
  std::string_view Word;
  Often Times;
};

/// A bound above every time in ns and every count of a kernel.
inline constexpr double MostFraction = 1e18;

/// The words by which records name the values of an enumeration, in the order of its values.
template <class E> struct RecordWords;

template <class E> constexpr std::string_view wordOf(E Value) {
  return RecordWords<E>::All[static_cast<size_t>(Value)];
}

} // namespace carve
