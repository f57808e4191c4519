/// \file
/// What the tuner and the probe say to each other: environment variables, and the tab-separated
/// records of the file that every traced process writes. Shared by lib/Probe and lib/Tune; the C++
/// library alone is used here.
///
/// Each process writes `<CARVE_PROBE_DIR>/<pid>-<nanoseconds>.probe`, created when the driver is
/// initialised, appended to whole lines at a time:
///
///   carve-probe <version> <pid> <executable>
///   device <ordinal> <name> <uuid> <major> <minor> <SMs> <memory bytes> <regs/SM> <regs/block>
///          <threads/SM> <blocks/SM> <smem/SM> <smem/block opt-in> <smem/block> <reserved
///          smem/block> <driver version, as cuDriverGetVersion> <kernel driver, e.g. 580.159.03, or
///          -> <SM clock, kHz> <memory clock, kHz> <memory bus, bits> <L2 bytes>
///   container <digest> <bytes> <driver call>       a program loads this device container
///   swapped <digest> <path>                        and got this image in its place
///   unswapped <digest> <reason>                    the replacement could not be made: default runs
///   module <digest> <bytes>                        the driver loaded this image
///   kernel <name> <grid x,y,z> <block x,y,z> <static smem> <dynamic smem> <cluster x,y,z>
///          <cooperative 0|1> <registers> <local bytes/thread> <launches> <total ns> <min ns>
///          <local bytes total>     one per flush and launch shape: sums are to be added up
///   span <first start ns> <last end ns> <busy ns>    of the kernels of one flush (trace): busy is
///          the time in which at least one ran; to be joined with those of the process's others
///   query <kernel> <driver call>                   the program asked for attributes or occupancy
///   graph <kernel> <launches>                      of these, started from a graph (trace)
///   attribute <kernel> programmatic                launched before its predecessor ends (trace)
///   hazard <kind> <driver call>                    the program makes such calls (trace); kinds:
///          managed, host-mapped, ipc, peer, capture, array, gpus (contexts on several: call -)
///   dropped <records>                              activity records lost: times are not to be used
///   aside <reason>                                 the probe does nothing in this process
///   end                                            the file is whole
///
/// With a plan (CARVE_PROBE_PLAN) the process also times variants. SHAPE stands for the four fields
/// <grid x,y,z> <block x,y,z> <dynamic smem> <cluster x,y,z>; LAUNCH counts the launches of this
/// kernel and shape in this process from 0; VARIANT is the position in the plan: 0 the kernel
/// itself, 1 its identical control copy, 2 and up the variants. Times are those of the GPU, in ns.
///
///   replayed <kernel> SHAPE LAUNCH <deterministic 0|1> <idempotent 0|1> <saved bytes>
///          <dirty bytes> <dirty ranges> <save ns> <compare ns> <restore ns>
///          <whole ns, by the clock>
///   verified <kernel> SHAPE LAUNCH VARIANT <equal|within-spread|differs|stray|refused> <detail>
///   timed <kernel> SHAPE LAUNCH <screen|confirm> <round> VARIANT <cold ns> <warm ns, 0: not taken>
///   rotated <kernel> SHAPE <cycle> VARIANT <ns>
///   stood-back <kernel> <reason>       this kernel is not replayed (any more) in this process
///   fault <kernel> VARIANT <reason>    the variant hung or failed, and the process was ended
///
/// With counters (CARVE_PROBE_COUNTERS):
///
///   counted <variable> <counter> <count>   over all contexts and modules; no line: it is 0
///   uncounted <reason>                     some counts are lost
///
/// With hardware counters (CARVE_PROBE_METRICS), where nothing is timed:
///
///   metrics <chip> <pass> <passes> <metric>,...   what is counted in this process, of so many
///          passes that all metrics wanted take
///   no-metric <chip> <metric> <reason>       it is in no pass
///   measured <kernel> SHAPE LAUNCH <kernel|span> <metric> <value>    of the kernel alone, or of
///   the
///          time from before its launch until it was seen to have ended
///   unmeasured <kernel> SHAPE LAUNCH <reason>
///   uncounted <reason>                       nothing more is counted in this process
///
/// What is wanted, tab-separated:
///
///   carve-metrics <version>
///   pass <number>                      from 0
///   metric <name>                      most important first; the first is part of every pass
///   kernel <name> SHAPE LAUNCH <launches>     to be counted from LAUNCH on
///
/// The plan, tab-separated, one kernel's lines in any order:
///
///   carve-plan <version>
///   seed <number>                      of the permutations
///   replay-ms <milliseconds>           for all replays of a process; 0: no limit
///   hang-ms <milliseconds>             after which a run of a variant counts as hung
///   kernel <name> <mode> <fallback> <clone>...      the clones are variants 1, 2, ...
///          mode: replay; rotate; verify-rotate (replayed once per shape to compare outputs, timed
///          by rotating); fallback, where it cannot be replayed: rotate or none
///   shape <kernel> SHAPE <launches> <default's mean ns, whole>   as traced, in one process; other
///          shapes run the default
///   exclude <kernel> VARIANT           not to be run: it was at fault in an earlier run
///   measure <kernel> VARIANT           computes something else, and is timed all the same: only
///          replayed, and left out only where it writes elsewhere than the kernel does
#pragma once

namespace carve::probe {

inline constexpr int ProtocolVersion = 1;

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
inline constexpr int MetricsVersion = 1;

/// The plan of a run that times variants; absent: nothing is timed but what runs.
inline constexpr char PlanVariable[] = "CARVE_PROBE_PLAN";
inline constexpr int PlanVersion = 1;

/// How the probe ends a process whose variant hung or broke the context: no handler of the program
/// may run, because what it would write is not the program's result.
inline constexpr int FaultExitStatus = 97;

inline constexpr char FileSuffix[] = ".probe";

} // namespace carve::probe
