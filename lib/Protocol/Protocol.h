/// \file
/// What the tools and the probe exchange besides files: environment variables, and the way in which
/// the probe ends a process. The files are lines of records: ProtocolKind.h says how they are
/// defined, RecordTable.h lists them all, and share/doc/formats.md documents them. It uses only the
/// C++ library, as everything that the probe links must.
#pragma once

namespace carve::probe {

/// The directory for the records. Without it the probe does nothing.
inline constexpr char DirVariable[] = "CARVE_PROBE_DIR";
/// A file with lines `<container digest>\t<path of the replacing image>`. Without it no image is
/// replaced.
inline constexpr char ImagesVariable[] = "CARVE_PROBE_IMAGES";
/// The path of the libcupti that the tuner found beside nvcc.
inline constexpr char CuptiVariable[] = "CARVE_PROBE_CUPTI";
/// The path of the library that the driver loads.
inline constexpr char InjectionVariable[] = "CUDA_INJECTION64_PATH";
/// The variable with which a program is run without its further entries, by the value `off`
/// (Emit/EntryDispatch.h). Every launch then takes the kernel's first entry.
inline constexpr char EntriesVariable[] = "CARVE_ENTRIES";

/// The names, separated by commas, of variables in the replacing images. Each has CounterCopies
/// rows of 64-bit counters, and a counter's value is the sum of its column. Without it no such
/// counter is read.
inline constexpr char CountersVariable[] = "CARVE_PROBE_COUNTERS";
inline constexpr unsigned CounterCopies = 64;

/// A file that says which hardware counters are read at which launches. Without it none is read.
inline constexpr char MetricsVariable[] = "CARVE_PROBE_METRICS";

/// The plan of a run that times variants. Without it no other variants are timed than the images
/// that run.
inline constexpr char PlanVariable[] = "CARVE_PROBE_PLAN";

/// The status with which the probe ends a process whose variant hung or broke the context. No
/// handler of the program may run then, because what it would write is not the program's result.
inline constexpr int FaultExitStatus = 97;

inline constexpr char FileSuffix[] = ".probe";

} // namespace carve::probe
