#include "Probe/Trace/Activity.h"

#include "Probe/Driver/CuptiApi.h"
#include "Probe/Driver/Devices.h"
#include "Probe/Process/RecordFile.h"
#include "Probe/Process/ThreadGuards.h"
#include "Probe/Trace/BusySpan.h"
#include "Probe/Trace/KernelTable.h"

#include <atomic>
#include <mutex>
#include <sys/mman.h>

using namespace carve;
using namespace carve::probe;

/// A tight loop of launches fills 1 MB in about 10 ms, and every full buffer wakes CUPTI's worker
/// thread beside the program's threads.
static constexpr size_t BufferBytes = 8 << 20;
/// CUPTI keeps a buffer for each thread that launches. More spare buffers than these are given back
/// to the system.
static constexpr size_t MaxSpareBuffers = 4;

namespace {
/// Buffers that CUPTI has delivered. They are kept because their pages are already present. They
/// are mapped rather than allocated, because freeing blocks of this size would raise glibc's mmap
/// threshold for the program's own allocations.
class SpareBuffers {
public:
  uint8_t *take() {
    {
      std::lock_guard<std::mutex> Guard(Lock);
      if (Count > 0)
        return Spare[--Count];
    }
    void *New = ::mmap(nullptr, BufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                       /*fd=*/-1, /*offset=*/0);
    return New == MAP_FAILED ? nullptr : static_cast<uint8_t *>(New);
  }
  void giveBack(uint8_t *Buffer) {
    {
      std::lock_guard<std::mutex> Guard(Lock);
      if (Count < MaxSpareBuffers) {
        Spare[Count++] = Buffer;
        return;
      }
    }
    ::munmap(Buffer, BufferBytes);
  }

private:
  std::mutex Lock;
  uint8_t *Spare[MaxSpareBuffers] = {};
  size_t Count = 0;
};

struct ActivityState {
  ActivityState(const CuptiApi &Cupti, RecordFile &File, Devices &Used, const ProbeModes &Modes)
      : Cupti(Cupti), File(File), Used(Used), Modes(Modes) {}

  const CuptiApi &Cupti;
  RecordFile &File;
  Devices &Used;
  const ProbeModes &Modes;
  bool AsItIs = true; ///< Whether every mode runs the program's own kernels alone.
  SpareBuffers Buffers;
  std::atomic<bool> Requested{false}, Finishing{false};

  std::mutex Lock; ///< Protects the members below.
  KernelTable Kernels;
  BusySpan Busy;
};
} // namespace

/// CUPTI's buffer callbacks carry no user data. The pointer is set once, before they are
/// registered.
static ActivityState *State = nullptr;

static void CUPTIAPI onBufferRequested(uint8_t **Buffer, size_t *Bytes, size_t *MaxRecords) {
  CancellationOff Uncancelled;
  *Buffer = State->Buffers.take();
  *Bytes = *Buffer ? BufferBytes : 0;
  *MaxRecords = 0; // Zero means as many records as fit.
  State->Requested = true;
}

static KernelShape shapeOf(const CUpti_ActivityKernel10 &Record) {
  auto Dim = [](int32_t X, int32_t Y, int32_t Z) {
    return std::array<uint32_t, 3>{uint32_t(X), uint32_t(Y), uint32_t(Z)};
  };
  KernelShape Shape;
  Shape.Grid = Dim(Record.gridX, Record.gridY, Record.gridZ);
  Shape.Block = Dim(Record.blockX, Record.blockY, Record.blockZ);
  // CUPTI writes 0 if the launch has no cluster; the protocol writes 1.
  if (Record.clusterX && Record.clusterY && Record.clusterZ)
    Shape.Cluster = {Record.clusterX, Record.clusterY, Record.clusterZ};
  Shape.StaticSmemBytes = uint32_t(Record.staticSharedMemory);
  Shape.DynamicSmemBytes = uint32_t(Record.dynamicSharedMemory);
  Shape.Cooperative = Record.launchType == CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE ||
                      Record.launchType == CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_MULTI_DEVICE;
  Shape.Registers = Record.registersPerThread;
  Shape.LocalBytesPerThread = Record.localMemoryPerThread;
  return Shape;
}

static ProbeMode::Counted countedAs(const CUpti_ActivityKernel10 &Record, const KernelShape &Shape,
                                    std::string &Lines) {
  ProbeMode::Counted As{false, Record.name};
  for (const auto &Mode : State->Modes)
    if (!As.IsOurs && As.Name == Record.name)
      As = Mode->onKernel(Record, Shape, Lines);
  return As;
}

/// Adds the kernel of \p Record. Returns false if CUPTI has lost the times of this launch.
static bool addKernel(const CUpti_ActivityKernel10 &Record, std::string &Lines) {
  if (!Record.name || Record.end < Record.start || Record.end == 0)
    // At the end of the process kernels may still run, or may have been given up. Before the end
    // only complete records are delivered, so one without times is a loss.
    return State->Finishing;
  State->Used.note(Record.deviceId);
  if (State->AsItIs)
    State->Busy.add(Record.start, Record.end);
  KernelShape Shape = shapeOf(Record);
  ProbeMode::Counted As = countedAs(Record, Shape, Lines);
  if (As.IsOurs)
    return true;
  State->Kernels.add(As.Name, Shape, Record.end - Record.start,
                     Record.localMemoryTotal_v2 ? Record.localMemoryTotal_v2
                                                : Record.localMemoryTotal,
                     Record.graphNodeId != 0 || Record.graphId != 0);
  return true;
}

static void readBuffer(CUcontext Context, uint32_t Stream, uint8_t *Buffer, size_t ValidBytes) {
  uint64_t Lost = 0;
  std::string Lines;
  {
    std::lock_guard<std::mutex> Guard(State->Lock);
    CUpti_Activity *Record = nullptr;
    while (State->Cupti.GetNextRecord(Buffer, ValidBytes, &Record) == CUPTI_SUCCESS)
      if (Record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
          !addKernel(*reinterpret_cast<const CUpti_ActivityKernel10 *>(Record), Lines))
        ++Lost;
    Lines += State->Kernels.drain();
    Lines += State->Busy.drain();
  }
  size_t Dropped = 0;
  if (State->Cupti.GetNumDroppedRecords(Context, Stream, &Dropped) == CUPTI_SUCCESS)
    Lost += Dropped;
  if (Lost) {
    for (const auto &Mode : State->Modes)
      Mode->onLostRecords();
    Lines += recordLine(DroppedRecord{Lost});
  }
  State->File.append(Lines);
}

static void CUPTIAPI onBufferCompleted(CUcontext Context, uint32_t Stream, uint8_t *Buffer, size_t,
                                       size_t ValidBytes) {
  if (!Buffer)
    return;
  CancellationOff Uncancelled;
  try {
    if (State->File.owned())
      readBuffer(Context, Stream, Buffer, ValidBytes);
  } catch (...) {
    // There is no memory left. The file must not look complete.
    State->File.abandon();
  }
  State->Buffers.giveBack(Buffer);
}

bool carve::probe::startActivity(const CuptiApi &Cupti, RecordFile &File, Devices &Used,
                                 const ProbeModes &Modes) {
  State = new ActivityState(Cupti, File, Used, Modes);
  for (const auto &Mode : Modes)
    State->AsItIs &= Mode->runsProgramAsItIs();
  return Cupti.RegisterCallbacks(onBufferRequested, onBufferCompleted) == CUPTI_SUCCESS &&
         Cupti.Enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == CUPTI_SUCCESS;
}

void carve::probe::flushActivity(bool Last) {
  // There is nothing to deliver before the first buffer, and the driver may still be in its cuInit.
  if (State && State->Requested)
    State->Cupti.FlushAll(Last ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
}

void carve::probe::finishActivity() {
  if (State)
    State->Finishing = true;
  flushActivity(/*Last=*/true);
}
