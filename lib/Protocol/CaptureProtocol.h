/// \file
/// How a captured launch is left by the probe. CARVE_PROBE_CAPTURE names a file of the launches
/// that are wanted (PlanRecords.h). Of capture n the process leaves `<path>/<pid>-<n>.refused` with
/// the reason in one line, or the folder `<path>/<pid>-<n>` with
///
///   memory     the bytes of all ranges, then of all variables, one after the other; holes are 0
///   container  as the program passed it to the driver
///   launch     records (CaptureRecords.h); has its name when the folder is whole
#pragma once

namespace carve::probe {

inline constexpr char CaptureVariable[] = "CARVE_PROBE_CAPTURE";
/// Bytes that one digest is of.
inline constexpr unsigned long CapturedChunkBytes = 1ul << 20;

/// Attributes of the launch.
inline constexpr char ClusterPolicyAttribute[] = "cluster-policy";
inline constexpr char CarveOutAttribute[] = "carve-out";
/// Attributes that the program gave to the kernel.
inline constexpr char MaxDynamicSmemAttribute[] = "max-dynamic-smem";
inline constexpr char KernelCarveOutAttribute[] = "kernel-carve-out";
inline constexpr char NonPortableClusterAttribute[] = "non-portable-cluster";
/// A limit of the context: stack of a thread, in bytes.
inline constexpr char StackAttribute[] = "stack-bytes";

} // namespace carve::probe
