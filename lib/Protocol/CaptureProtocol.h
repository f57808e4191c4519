/// \file
/// What `carve capture` and the probe say to each other: which launches are to be captured, and the
/// raw files of a captured launch, which Captures/File/RawCapture packs. The C++ library alone is
/// used here.
///
/// CARVE_PROBE_CAPTURE names a file of tab-separated lines; SHAPE and LAUNCH are as in Protocol.h:
///
///   carve-capture-plan <version>
///   directory <path>                  for what is captured
///   capture <kernel> SHAPE <LAUNCH>   the n-th such line, from 0, is capture n
///
/// Of capture n the process leaves `<path>/<pid>-<n>.refused` with the reason in one line, or the
/// folder `<path>/<pid>-<n>` with
///
///   memory     the bytes of all ranges, then of all variables, one after the other; holes are 0
///   container  as the program passed it to the driver
///   launch     tab-separated lines; has its name when the folder is whole:
///
///   carve-captured <version>
///   kernel <name> SHAPE <cooperative 0|1> <LAUNCH>
///   attribute <name> <value>          see below
///   parameter <offset> <hex>
///   range <address> <bytes> <device|pool|mapped>
///   variable <name> <bytes>
///   after <digest>...                 for each range and variable, in their order: of every MiB of
///                                     it when the default had run
///   container <digest> <bytes> <driver call>
///   end
#pragma once

namespace carve::probe {

inline constexpr char CaptureVariable[] = "CARVE_PROBE_CAPTURE";
inline constexpr int CaptureVersion = 1;
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
