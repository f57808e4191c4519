/// \file
/// One launch of a kernel with everything that is needed to launch it again without the program.
/// The probe's raw files are packed into it (RawCapture.h), a capture file stores it
/// (CaptureFile.h), and carve-launch launches it.
#pragma once

#include "Protocol/LaunchShape.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace carve {

/// Bytes in a capture file, in chunks of CaptureChunkBytes. The last chunk may be shorter.
struct CapturedBytes {
  uint64_t Bytes = 0;
  /// For each chunk the number of its section in the file, from 1; 0 if all its bytes are 0.
  std::vector<uint64_t> Chunks;
};

/// The size of a chunk, the unit in which content is stored, compared and shared.
inline constexpr uint64_t CaptureChunkBytes = uint64_t(1) << 20;

/// A range of device memory, as it was at the launch.
struct CapturedMemory {
  uint64_t Address = 0;
  std::string Kind; ///< How the program allocated it: `device`, `pool` or `mapped`.
  CapturedBytes Content;
  std::vector<std::string> After; ///< The digest of each chunk after the default has run.
};

/// A __device__ or __constant__ variable of the kernel's module.
struct CapturedVariable {
  std::string Name; ///< The mangled name.
  CapturedBytes Content;
  std::vector<std::string> After;
};

/// One parameter of the launch.
struct CapturedParameter {
  uint64_t Offset = 0; ///< In bytes, within the parameter buffer.
  std::string Bytes;
};

/// A record of the store. It lets the kernel be tuned with a store that lacks it.
struct CapturedRecord {
  std::string Name; ///< The key of a unit or link, or the digest of a blob.
  CapturedBytes Content;
};

/// One captured launch.
struct Capture {
  std::string Kernel; ///< The mangled name.
  LaunchShape Shape;
  bool Cooperative = false; ///< Its blocks may wait for each other.
  /// The index of the launch among those with this kernel and shape in its process, from 0.
  uint64_t Launch = 0;
  /// The launches with this kernel and shape in the program's traced run.
  uint64_t TracedLaunches = 0;
  uint64_t MeanNs = 0;       ///< The mean time of these.
  std::string Device, Arch;  ///< `NVIDIA H200`, `sm_90`.
  std::string DriverVersion; ///< The version of the kernel driver.
  std::string Workload;      ///< The program's command line, as information for people.
  /// Attributes of the launch and of the kernel, by the names in Protocol/CaptureProtocol.h.
  std::map<std::string, uint64_t> Attributes;
  std::vector<CapturedParameter> Parameters;
  std::vector<CapturedMemory> Memory; ///< Ascending by address.
  std::vector<CapturedVariable> Variables;
  std::string LoadCall;        ///< The driver call that loaded the container.
  std::string ContainerDigest; ///< The digest by which the store and the probe name the container.
  CapturedBytes Container;
  std::vector<CapturedRecord> Units, Links, Blobs;

  /// The size of all ranges in Memory together.
  uint64_t memoryBytes() const;
};

/// Returns the shape as `128,1,1 256,1,1`, followed by ` smem 1024` and ` cluster 2,1,1` if it has
/// dynamic shared memory or clusters.
std::string describeShape(const LaunchShape &Shape);

} // namespace carve
