/// \file
/// One launch of a kernel with all that it needs to be launched again without the program: what a
/// capture file holds (CaptureFile.h), between the probe's raw files and carve-launch.
#pragma once

#include "Protocol/LaunchShape.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace carve {

/// Bytes kept in a capture file, in chunks of CaptureChunkBytes; the last one may be shorter.
struct CapturedBytes {
  uint64_t Bytes = 0;
  /// Per chunk the number of its section in the file, from 1; 0 where all its bytes are 0.
  std::vector<uint64_t> Chunks;
};

inline constexpr uint64_t CaptureChunkBytes = uint64_t(1) << 20;

/// A range of device memory at the launch.
struct CapturedMemory {
  uint64_t Address = 0;
  std::string Kind; ///< `device`, `pool` or `mapped`: how the program got it.
  CapturedBytes Content;
  std::vector<std::string> After; ///< Digest of each chunk when the default had run.
};

/// A __device__ or __constant__ variable of the kernel's module.
struct CapturedVariable {
  std::string Name; ///< Mangled.
  CapturedBytes Content;
  std::vector<std::string> After;
};

struct CapturedParameter {
  uint64_t Offset = 0; ///< Within the parameter buffer.
  std::string Bytes;
};

/// A record of the store, so that the kernel can be tuned where the store has none.
struct CapturedRecord {
  std::string Name; ///< Key of a unit or link, digest of a blob.
  CapturedBytes Content;
};

struct Capture {
  std::string Kernel; ///< Mangled.
  LaunchShape Shape;
  bool Cooperative = false;
  uint64_t Launch = 0;         ///< Which launch of this kernel and shape in its process, from 0.
  uint64_t TracedLaunches = 0; ///< Of kernel and shape, in the program's traced run.
  uint64_t MeanNs = 0;         ///< Of these.
  std::string Device, Arch;    ///< `NVIDIA H200`, `sm_90`.
  std::string DriverVersion;   ///< Of the kernel driver.
  std::string Workload;        ///< The program's command line, for a person.
  /// Of the launch and of the kernel, by the names in Protocol/CaptureProtocol.h.
  std::map<std::string, uint64_t> Attributes;
  std::vector<CapturedParameter> Parameters;
  std::vector<CapturedMemory> Memory; ///< By address.
  std::vector<CapturedVariable> Variables;
  std::string LoadCall;        ///< The driver call that loaded the container.
  std::string ContainerDigest; ///< As the store and the probe name it.
  CapturedBytes Container;
  std::vector<CapturedRecord> Units, Links, Blobs;

  uint64_t memoryBytes() const;
};

/// `128,1,1 256,1,1`, and where they are there ` smem 1024` and ` cluster 2,1,1`.
std::string describeShape(const LaunchShape &Shape);

} // namespace carve
