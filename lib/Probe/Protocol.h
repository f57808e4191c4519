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
///          ->
///   container <digest> <bytes> <driver call>       a program loads this device container
///   swapped <digest> <path>                        and got this image in its place
///   unswapped <digest> <reason>                    the replacement could not be made: default runs
///   module <digest> <bytes>                        the driver loaded this image
///   kernel <name> <grid x,y,z> <block x,y,z> <static smem> <dynamic smem> <cluster x,y,z>
///          <cooperative 0|1> <registers> <local bytes/thread> <launches> <total ns> <min ns>
///          <local bytes total>     one per flush and launch shape: sums are to be added up
///   query <kernel> <driver call>                   the program asked for attributes or occupancy
///   dropped <records>                              activity records lost: times are not to be used
///   aside <reason>                                 the probe does nothing in this process
///   end                                            the file is whole
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

inline constexpr char FileSuffix[] = ".probe";

} // namespace carve::probe
