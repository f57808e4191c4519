#include "Probe/Replay/ReplayHazards.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sstream>

using namespace carve::probe;

void ReplayHazards::streamCreated(CUcontext Context, CUstream Stream) {
  std::lock_guard<std::mutex> Guard(Lock);
  Streams[Context].insert(Stream);
}

void ReplayHazards::streamDestroyed(CUcontext Context, CUstream Stream) {
  std::lock_guard<std::mutex> Guard(Lock);
  if (auto It = Streams.find(Context); It != Streams.end())
    It->second.erase(Stream);
}

void ReplayHazards::contextDestroyed(CUcontext Context) {
  std::lock_guard<std::mutex> Guard(Lock);
  Streams.erase(Context);
}

bool ReplayHazards::idle(CUcontext Context) const {
  // No stream is destroyed in the meantime, because that call waits at the gate.
  std::set<CUstream> Asked = {CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
  {
    std::lock_guard<std::mutex> Guard(Lock);
    if (auto It = Streams.find(Context); It != Streams.end())
      Asked.insert(It->second.begin(), It->second.end());
  }
  return std::all_of(Asked.begin(), Asked.end(),
                     [&](CUstream Stream) { return Driver.StreamQuery(Stream) == CUDA_SUCCESS; });
}

const char *carve::probe::hazardOfKind(MemoryKind Kind) {
  switch (Kind) {
  case MemoryKind::Managed:
    return "managed";
  case MemoryKind::Host:
    return "host-mapped";
  case MemoryKind::Imported:
    return "imported";
  default:
    return nullptr;
  }
}

static void takeWords(const void *Data, size_t Bytes, std::vector<uint64_t> &Words) {
  for (size_t At = 0; At + sizeof(uint64_t) <= Bytes; At += sizeof(uint32_t)) {
    uint64_t Word = 0;
    std::memcpy(&Word, static_cast<const char *>(Data) + At, sizeof Word);
    Words.push_back(Word);
  }
}

bool carve::probe::argumentWords(const LaunchCall &Call, const ResolvedKernel &Kernel,
                                 std::vector<uint64_t> &Words) {
  if (Call.Parameters) {
    if (!Kernel.ParameterBytes)
      return false;
    for (size_t I = 0; I < Kernel.ParameterBytes->size(); ++I)
      takeWords(Call.Parameters[I], (*Kernel.ParameterBytes)[I], Words);
    return true;
  }
  const void *Buffer = nullptr;
  size_t Bytes = 0;
  for (void **E = Call.Extra; E && *E != CU_LAUNCH_PARAM_END; E += 2) {
    if (*E == CU_LAUNCH_PARAM_BUFFER_POINTER)
      Buffer = E[1];
    else if (*E == CU_LAUNCH_PARAM_BUFFER_SIZE)
      Bytes = *static_cast<const size_t *>(E[1]);
    else
      return false;
  }
  if (Buffer)
    takeWords(Buffer, Bytes, Words);
  return true;
}

/// Whether one of \p Words is an address in \p Range.
static bool isIn(const MemoryRange &Range, const std::vector<uint64_t> &Words) {
  return std::any_of(Words.begin(), Words.end(), [&](uint64_t Word) { return Range.holds(Word); });
}

bool carve::probe::holdAddress(const void *Data, size_t Bytes,
                               const std::vector<MemoryRange> &Ranges) {
  std::vector<uint64_t> Words;
  takeWords(Data, Bytes, Words);
  return std::any_of(Ranges.begin(), Ranges.end(),
                     [&](const MemoryRange &Range) { return isIn(Range, Words); });
}

std::vector<size_t> carve::probe::reachedOf(const LaunchCall &Call, const ResolvedKernel &Kernel,
                                            const std::vector<MemoryRange> &Ranges) {
  std::vector<uint64_t> Words;
  std::vector<size_t> Reached;
  const bool Known = argumentWords(Call, Kernel, Words);
  for (size_t I = 0; I < Ranges.size(); ++I)
    if (!Known || isIn(Ranges[I], Words))
      Reached.push_back(I);
  return Reached;
}

Failure ReplayHazards::arguments(const LaunchCall &Call, const ResolvedKernel &Kernel,
                                 const DeviceMemory &Memory) const {
  std::vector<uint64_t> Words;
  if (!argumentWords(Call, Kernel, Words)) {
    // The kernel may reach any memory that there is.
    for (const MemoryRange &Range : Memory.ranges())
      if (const char *Hazard = hazardOfKind(Range.Kind))
        return Failure(Hazard);
    return Failure::none();
  }
  for (uint64_t Word : Words)
    if (std::optional<MemoryRange> Range = Memory.find(Word))
      if (const char *Hazard = hazardOfKind(Range->Kind))
        return Failure(Hazard);
  return reachesPageable(Words, Memory) ? Failure("host-memory") : Failure::none();
}

Failure carve::probe::pointsToHost(const AddressInMemory &Found,
                                   const std::vector<MemoryRange> &Pointed) {
  std::string What = "points-to-host: " + std::to_string(Found.In.Bytes) +
                     " bytes of device memory hold an address of ";
  for (const MemoryRange &Range : Pointed)
    if (Range.holds(Found.Value))
      return Failure(What + std::to_string(Range.Bytes) + " bytes of " +
                     (Range.Kind == MemoryKind::Device && Range.Context == Found.In.Context
                          ? "a constant with such an address"
                          : describeShared(Range.Kind)));
  return Failure(What + "host memory");
}

/// Returns whether an argument looks like an address of the process's own writable memory, on a
/// device whose kernels can reach that memory.
bool ReplayHazards::reachesPageable(const std::vector<uint64_t> &Words,
                                    const DeviceMemory &Memory) const {
  CUdevice Device = 0;
  int Pageable = 0;
  if (Driver.CtxGetDevice(&Device) != CUDA_SUCCESS ||
      Driver.DeviceGetAttribute(&Pageable, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, Device) !=
          CUDA_SUCCESS ||
      !Pageable)
    return false;
  std::istringstream Lines(Maps.read());
  for (std::string Line; std::getline(Lines, Line);) {
    unsigned long long First = 0, Last = 0;
    char Access[5] = "";
    if (std::sscanf(Line.c_str(), "%llx-%llx %4s", &First, &Last, Access) != 3 || Access[1] != 'w')
      continue;
    for (uint64_t Word : Words)
      if (Word >= First && Word < Last && !Memory.find(Word))
        return true;
  }
  return false;
}
