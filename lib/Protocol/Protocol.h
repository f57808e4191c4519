/// \file
/// What the tools and the probe say to each other beside files: environment variables, and how the
/// probe ends a process. The files are lines of records: ProtocolKind.h says how they are defined,
/// RecordTable.h lists them all, and share/doc/formats.md documents them. The C++ library alone is
/// used here.
#pragma once

namespace carve::probe {

/// Directory for the records; without it the probe does nothing.
inline constexpr char DirVariable[] = "CARVE_PROBE_DIR";
/// File with lines `<container digest>\t<path of the replacing image>`; absent: trace only.
inline constexpr char ImagesVariable[] = "CARVE_PROBE_IMAGES";
/// Path of libcupti that the tuner found beside nvcc.
inline constexpr char CuptiVariable[] = "CARVE_PROBE_CUPTI";
/// The driver loads the library that this names.
inline constexpr char InjectionVariable[] = "CUDA_INJECTION64_PATH";

/// Nanoseconds that every launch is held back on the host. What changes in the output of such a run
/// of the untouched program depends on time and not on the kernels' results.
inline constexpr char DelayVariable[] = "CARVE_PROBE_DELAY_NS";

/// Names, parted by commas, of variables in the replacing images: CounterCopies rows of 64-bit
/// counters, where each counter is the sum of its column. Absent: nothing is counted.
inline constexpr char CountersVariable[] = "CARVE_PROBE_COUNTERS";
inline constexpr unsigned CounterCopies = 64;

/// File that says which hardware counters are wanted of which launches; absent: none.
inline constexpr char MetricsVariable[] = "CARVE_PROBE_METRICS";

/// The plan of a run that times variants; absent: nothing is timed but what runs.
inline constexpr char PlanVariable[] = "CARVE_PROBE_PLAN";

/// How the probe ends a process whose variant hung or broke the context: no handler of the program
/// may run, because what it would write is not the program's result.
inline constexpr int FaultExitStatus = 97;

inline constexpr char FileSuffix[] = ".probe";

} // namespace carve::probe
