/// \file
/// How the probe leaves a captured launch. CARVE_PROBE_CAPTURE names a file with the launches that
/// are wanted (PlanRecords.h). For capture n the process leaves either the file
/// `<path>/<pid>-<n>.refused` with the reason in one line, or the folder `<path>/<pid>-<n>` with
///
///   memory     the bytes of all ranges, then of all variables, one after the other; holes are 0
///   container  the container as the program passed it to the driver
///   launch     records (CaptureRecords.h); it gets this name when the folder is complete
#pragma once

namespace carve::probe {

inline constexpr char CaptureVariable[] = "CARVE_PROBE_CAPTURE";
/// The number of bytes of which one digest is made.
inline constexpr unsigned long CapturedChunkBytes = 1ul << 20;

/// Names of attributes of the launch.
inline constexpr char ClusterPolicyAttribute[] = "cluster-policy";
inline constexpr char CarveOutAttribute[] = "carve-out";
/// Names of attributes that the program has given to the kernel.
inline constexpr char MaxDynamicSmemAttribute[] = "max-dynamic-smem";
inline constexpr char KernelCarveOutAttribute[] = "kernel-carve-out";
inline constexpr char NonPortableClusterAttribute[] = "non-portable-cluster";
/// The name of a limit of the context: the stack of a thread in bytes.
inline constexpr char StackAttribute[] = "stack-bytes";

} // namespace carve::probe
