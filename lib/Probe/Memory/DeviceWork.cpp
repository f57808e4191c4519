#include "Probe/Memory/DeviceWork.h"

#include "Probe/Memory/Snapshot.h"

#include <chrono>
#include <thread>

using namespace carve::probe;

void DeviceWork::expect(size_t Bytes) {
  if (!Memory.expect(Bytes, helper::ChunkBytes, Snapshot::ReserveBytes))
    (void)stage();
}

bool DeviceWork::stage() {
  if (!Staging)
    Staging = Memory.takeLittle(StagingBytes + ShadowMemory::Alignment);
  return Staging != 0;
}

Failure DeviceWork::wait(uint64_t Bytes) {
  using Clock = std::chrono::steady_clock;
  auto Start = Clock::now();
  auto Limit = std::chrono::milliseconds(WaitMs + Bytes / 1'000'000);
  for (;;) {
    CUresult Result = Driver.StreamQuery(Stream);
    if (Result == CUDA_SUCCESS)
      return Failure::none();
    if (Result != CUDA_ERROR_NOT_READY)
      return driverFailure("cuStreamQuery", Result);
    auto Waited = Clock::now() - Start;
    if (Waited > Limit)
      return Failure("hang");
    // Most waits are short, and a sleep takes about 60 us.
    if (Waited > std::chrono::milliseconds(2))
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

Failure DeviceWork::toDevice(CUdeviceptr To, const void *From, size_t Bytes) {
  CUresult Result = Driver.MemcpyHtoDAsync(To, From, Bytes, Stream);
  return Result == CUDA_SUCCESS ? Failure::none() : driverFailure("cuMemcpyHtoDAsync", Result);
}

Failure DeviceWork::toHost(void *To, CUdeviceptr From, size_t Bytes, uint64_t BytesBefore) {
  if (Failure Why = wait(BytesBefore))
    return Why;
  CUresult Result = Driver.MemcpyDtoHAsync(To, From, Bytes, Stream);
  return Result == CUDA_SUCCESS ? Failure::none() : driverFailure("cuMemcpyDtoHAsync", Result);
}

Failure DeviceWork::zero(CUdeviceptr At, size_t Bytes) {
  CUresult Result = Driver.MemsetD8Async(At, 0, Bytes, Stream);
  return Result == CUDA_SUCCESS ? Failure::none() : driverFailure("cuMemsetD8Async", Result);
}

void PieceTable::add(CUdeviceptr Live, CUdeviceptr Shadow, uint64_t Bytes) {
  if (Bytes == 0)
    return;
  Pieces.push_back({Live, Shadow, Bytes, Chunks});
  Chunks += helper::chunksOf(Bytes);
}

void PieceTable::addAlone(CUdeviceptr Live, CUdeviceptr Shadow, uint64_t Bytes) {
  Pieces.push_back({Live, Shadow, Bytes, 0});
}

Failure PieceTable::upload(DeviceWork &Work) {
  if (Pieces.empty())
    return Failure::none();
  if (Pieces.size() > Capacity) {
    size_t Wanted = 2 * Pieces.size();
    Device = Work.Memory.takeLittle(Wanted * sizeof(helper::Piece));
    if (!Device) {
      Capacity = 0;
      return Failure("memory");
    }
    Capacity = Wanted;
  }
  return Work.toDevice(Device, Pieces.data(), Pieces.size() * sizeof(helper::Piece));
}

DeviceTable PieceTable::one(size_t Index) const {
  return {Device + Index * sizeof(helper::Piece), 1, helper::chunksOf(Pieces[Index].Bytes)};
}

uint64_t PieceTable::bytes() const {
  uint64_t Sum = 0;
  for (const helper::Piece &P : Pieces)
    Sum += P.Bytes;
  return Sum;
}
