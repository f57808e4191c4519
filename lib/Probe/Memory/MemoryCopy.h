/// \file
/// A copy of parts of the program's memory: taken, compared with the memory's present content, and
/// put back. A snapshot has one copy for what it saves and another for the reference output.
#pragma once

#include "Probe/Memory/DeviceWork.h"
#include "Probe/Memory/Snapshot.h"
#include "Probe/Process/Failure.h"

#include <string>
#include <utility>
#include <vector>

namespace carve::probe {

/// One copy. When one of its functions returns, its work on the device is done.
class MemoryCopy {
public:
  explicit MemoryCopy(DeviceWork &Work) : Work(Work) {}

  /// Finds room for \p Spans of \p Ranges, in their order: on the device as long as it has room,
  /// then on the host. Each span begins at a multiple of a chunk. Fails if there is no room.
  Failure place(const std::vector<MemoryRange> &Ranges, const std::vector<Span> &Spans);
  /// Forgets the spans; no room is needed any more.
  void forget();

  /// Copies the present content of the spans.
  Failure take();
  /// Writes the chunks whose content differs from the copy now to \p Different, with neighbours
  /// joined.
  Failure compare(std::vector<Span> &Different);
  Failure difference(OutputDifference &Difference);
  /// Copies the content of \p Spans back into the program's memory.
  Failure putBack(const std::vector<Span> &Spans);

  size_t bytes() const { return DeviceBytes + HostBytes; }
  size_t hostBytes() const { return HostBytes; }

private:
  /// A part of a span that is in one place. Parts on the device come before those on the host.
  struct Part {
    Span Of;
    CUdeviceptr Live = 0;
    CUdeviceptr Shadow = 0;
    std::byte *Host = nullptr;
  };

  Failure placeSpan(const MemoryRange &Range, Span Left, bool &OnHost);
  Failure makeTables();
  /// Copies every part on the host to the device, block by block, and calls \p Launch with a table
  /// of that block and the number of its first chunk.
  template <class Function> Failure forEachStaged(Function Launch);
  /// Calls \p Visit with the intersection of each of \p Spans with each part.
  template <class Function>
  void forEachShared(const std::vector<Span> &Spans, Function Visit) const;
  std::vector<Span> joined(const std::vector<uint8_t> &Differs) const;
  Failure makeLastTable(const std::vector<Span> &Spans);

  DeviceWork &Work;
  std::vector<Part> Parts;
  size_t DeviceBytes = 0, HostBytes = 0;
  uint64_t Chunks = 0; ///< The chunks of all parts.
  PieceTable Device;   ///< The parts on the device.
  PieceTable Staged;   ///< The parts on the host, in blocks of the size of the staging memory.
  /// The addresses of the blocks of Staged on the host, and the numbers of their first chunks.
  std::vector<std::pair<const std::byte *, uint64_t>> Blocks;
  CUdeviceptr Flags = 0, Total = 0;
  /// The spans that were put back last, and their table. They are kept because a replay puts the
  /// same spans back again and again.
  std::vector<Span> LastSpans;
  PieceTable LastTable;
};

} // namespace carve::probe
