/// \file
/// A stand-in for the CUDA driver that runs without a GPU: device memory is host memory, streams
/// are threads, and kernels are C++ functions that a program registers under their names. Every
/// call goes through the stand-in for CUPTI (StubCupti.cpp), as the driver's calls go through
/// CUPTI, so that the unchanged probe runs on it. Programs include this header in addition to
/// cuda.h.
#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace carve::standin {

/// One launch, as the code of a kernel sees it. The code does the work of the whole grid.
struct KernelCall {
  std::array<unsigned, 3> Grid{1, 1, 1}, Block{1, 1, 1}, Cluster{1, 1, 1};
  unsigned DynamicSmemBytes = 0;
  bool Cooperative = false;
  std::vector<std::vector<char>> Arguments;
  /// The variables of the kernel's module, by name.
  const std::map<std::string, std::pair<CUdeviceptr, size_t>> *Variables = nullptr;

  template <class T> T argument(size_t Index) const {
    T Value;
    std::memcpy(&Value, Arguments.at(Index).data(), sizeof Value);
    return Value;
  }
  size_t threads() const {
    return size_t(Grid[0]) * Grid[1] * Grid[2] * Block[0] * Block[1] * Block[2];
  }
};

/// Any result but CUDA_SUCCESS breaks the context, as a fault on a GPU does.
using KernelBody = std::function<CUresult(const KernelCall &)>;

struct KernelCode {
  std::string Name;
  std::vector<size_t> ArgumentBytes;
  KernelBody Body;
  uint64_t TimeNs = 20'000; ///< The time that the kernel's record shows.
  int Registers = 32;
  int MaxThreadsPerBlock = 1024;
  /// The time of one launch, if it depends on the launch.
  std::function<uint64_t(const KernelCall &)> TimeOf = nullptr;
};

/// Makes \p Code part of every module that names it. Later code of the same name replaces it.
__attribute__((visibility("default"))) void registerKernel(KernelCode Code);

/// The bytes of memory that the device has.
__attribute__((visibility("default"))) void setDeviceMemory(size_t Bytes);

/// A call of the driver about memory that no CUPTI header of today has: cuMemUnheardOf, with the id
/// by which the stand-in for CUPTI knows it.
__attribute__((visibility("default"))) void callUnheardOf();
inline constexpr unsigned UnheardOfId = 900;

/// Returns the name of the kernel that an executable graph has in the node made of \p Node. On a
/// GPU nobody can ask for it.
__attribute__((visibility("default"))) std::string kernelInNode(CUgraphExec Of, CUgraphNode Node);

/// From now on, executable graphs refuse kernels whose names end with \p Ending.
__attribute__((visibility("default"))) void refuseInGraphs(const std::string &Ending);

/// Gives the records of launches ids that no call of the driver has, as those of the runtime have.
__attribute__((visibility("default"))) void giveRecordsOtherIds();

/// The bytes of the L2 cache that the simulated device reports.
inline constexpr size_t L2Bytes = 64 << 10;

/// What the probe did last: a kernel of it has copied to the program's memory, or has only read, or
/// has read and then copied, or it has filled memory of its own.
enum class ProbeWork { None, Copy, Read, CopyBehindRead, Fill };
/// Returns what the probe has done since the last call, or None.
__attribute__((visibility("default"))) ProbeWork takeLastProbeWork();
/// Takes note of what it does.
void noteProbeWork(ProbeWork Work);
/// Whether the last copy to the program's memory was of these bytes and no others.
__attribute__((visibility("default"))) bool lastCopyWas(CUdeviceptr Begin, size_t Bytes);

/// Returns the value that was signalled last.
__attribute__((visibility("default"))) uint64_t valueOf(CUexternalSemaphore Semaphore);

/// What a kernel does with cudaGraphSetConditional().
__attribute__((visibility("default"))) void setCondition(CUgraphConditionalHandle Handle,
                                                         unsigned Value);

/// Adds a node of a type that no probe of today knows. It does nothing.
__attribute__((visibility("default"))) void addUnheardOfNode(CUgraph Graph);

/// Makes passes of the probe over these bytes take \p NsPerByte at least.
__attribute__((visibility("default"))) void slowBus(CUdeviceptr Begin, size_t Bytes,
                                                    double NsPerByte);

} // namespace carve::standin
