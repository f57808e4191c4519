/// \file
/// A copy of parts of the program's memory: taken, compared with what is there now, and put back.
/// What was saved is one, the reference output another.
#pragma once

#include "Probe/Memory/DeviceWork.h"
#include "Probe/Memory/Snapshot.h"
#include "Probe/Process/Failure.h"

#include <string>
#include <utility>
#include <vector>

namespace carve::probe {

/// When a function returns, its work is done.
class MemoryCopy {
public:
  explicit MemoryCopy(DeviceWork &Work) : Work(Work) {}

  /// Finds room for \p Spans of \p Ranges, in order: on the device while there is some, then on the
  /// host. \p Spans begin at multiples of a chunk.
  Failure place(const std::vector<MemoryRange> &Ranges, const std::vector<Span> &Spans);
  /// No room is needed any more.
  void forget();

  /// Copies what stands there now.
  Failure take();
  /// The chunks that are different now, neighbours joined.
  Failure compare(std::vector<Span> &Different);
  Failure difference(OutputDifference &Difference);
  /// Puts the copy of \p Spans back.
  Failure putBack(const std::vector<Span> &Spans);

  size_t bytes() const { return DeviceBytes + HostBytes; }
  size_t hostBytes() const { return HostBytes; }

private:
  /// Parts on the device come before those on the host.
  struct Part {
    Span Of;
    CUdeviceptr Live = 0;
    CUdeviceptr Shadow = 0;
    std::byte *Host = nullptr;
  };

  Failure placeSpan(const MemoryRange &Range, Span Left, bool &OnHost);
  Failure makeTables();
  /// Brings every part on the host to the device, block by block, and calls \p Launch with a table
  /// of that block and its first chunk.
  template <class Function> Failure forEachStaged(Function Launch);
  /// Calls \p Visit with what each of \p Spans has in common with each part.
  template <class Function>
  void forEachShared(const std::vector<Span> &Spans, Function Visit) const;
  std::vector<Span> joined(const std::vector<uint8_t> &Differs) const;
  Failure makeLastTable(const std::vector<Span> &Spans);

  DeviceWork &Work;
  std::vector<Part> Parts;
  size_t DeviceBytes = 0, HostBytes = 0;
  uint64_t Chunks = 0; ///< Of all parts.
  PieceTable Device;   ///< The parts on the device.
  PieceTable Staged;   ///< Those on the host, in blocks of the staging memory.
  /// Where the blocks of Staged are on the host, and their first chunks.
  std::vector<std::pair<const std::byte *, uint64_t>> Blocks;
  CUdeviceptr Flags = 0, Total = 0;
  /// The last spans put back, and their table: a replay puts the same ones back again and again.
  std::vector<Span> LastSpans;
  PieceTable LastTable;
};

} // namespace carve::probe
