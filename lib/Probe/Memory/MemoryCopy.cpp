#include "Probe/Memory/MemoryCopy.h"

#include <algorithm>

using namespace carve::probe;

void MemoryCopy::forget() {
  Parts.clear();
  Blocks.clear();
  LastSpans.clear();
  Device.reset();
  Staged.reset();
  LastTable.reset();
  DeviceBytes = HostBytes = 0;
  Chunks = 0;
  Flags = Total = 0;
}

Failure MemoryCopy::placeSpan(const MemoryRange &Range, Span Left, bool &OnHost) {
  while (Left.Bytes > 0) {
    CUdeviceptr Live = Range.Base + Left.Offset;
    ShadowMemory::Part Room;
    if (!OnHost)
      Room = Work.Memory.takeSome(Left.Bytes, helper::ChunkBytes, Live);
    if (Room.Bytes == 0)
      Room = Work.Memory.takeHost(Left.Bytes);
    if (Room.Bytes == 0 || (Room.Host && !Work.stage()))
      return Failure("memory");
    OnHost = Room.Device == 0;
    (OnHost ? HostBytes : DeviceBytes) += Room.Bytes;
    Parts.push_back({{Left.Range, Left.Offset, Room.Bytes}, Live, Room.Device, Room.Host});
    Left.Offset += Room.Bytes;
    Left.Bytes -= Room.Bytes;
  }
  return Failure::none();
}

Failure MemoryCopy::place(const std::vector<MemoryRange> &Ranges, const std::vector<Span> &Spans) {
  Parts.clear();
  LastSpans.clear();
  DeviceBytes = HostBytes = 0;
  bool OnHost = false;
  for (const Span &S : Spans)
    if (Failure Why = placeSpan(Ranges[S.Range], S, OnHost))
      return Why;
  return makeTables();
}

Failure MemoryCopy::makeTables() {
  Device.clear();
  Staged.clear();
  Blocks.clear();
  Chunks = 0;
  for (const Part &P : Parts) {
    if (P.Shadow)
      Device.add(P.Live, P.Shadow, P.Of.Bytes);
    for (size_t At = 0; P.Host && At < P.Of.Bytes; At += DeviceWork::StagingBytes) {
      size_t Bytes = std::min(DeviceWork::StagingBytes, P.Of.Bytes - At);
      Staged.addAlone(P.Live + At, Work.Staging + (P.Live + At) % ShadowMemory::Alignment, Bytes);
      Blocks.emplace_back(P.Host + At, Chunks + At / helper::ChunkBytes);
    }
    Chunks += helper::chunksOf(P.Of.Bytes);
  }
  if (Failure Why = Device.upload(Work))
    return Why;
  if (Failure Why = Staged.upload(Work))
    return Why;
  Flags = Work.Memory.takeLittle(std::max<uint64_t>(Chunks, 1));
  Total = Work.Memory.takeLittle(sizeof(helper::Tally));
  return Flags && Total ? Failure::none() : Failure("memory");
}

template <class Function> Failure MemoryCopy::forEachStaged(Function Launch) {
  for (size_t I = 0; I < Staged.size(); ++I) {
    const helper::Piece &P = Staged.at(I);
    if (Failure Why = Work.toDevice(P.Shadow, Blocks[I].first, P.Bytes))
      return Why;
    if (Failure Why = Launch(Staged.one(I), Blocks[I].second))
      return Why;
  }
  return Failure::none();
}

template <class Function>
void MemoryCopy::forEachShared(const std::vector<Span> &Spans, Function Visit) const {
  for (const Span &S : Spans) {
    // Parts are sorted by range and offset.
    auto At = std::partition_point(Parts.begin(), Parts.end(), [&](const Part &P) {
      return P.Of.Range < S.Range ||
             (P.Of.Range == S.Range && P.Of.Offset + P.Of.Bytes <= S.Offset);
    });
    for (; At != Parts.end() && At->Of.Range == S.Range && At->Of.Offset < S.Offset + S.Bytes;
         ++At) {
      size_t Begin = std::max(At->Of.Offset, S.Offset);
      size_t End = std::min(At->Of.Offset + At->Of.Bytes, S.Offset + S.Bytes);
      Visit(*At, Begin - At->Of.Offset, End - Begin);
    }
  }
}

Failure MemoryCopy::take() {
  if (Failure Why = Work.Kernels.copy(Work.Stream, Device.all(), false))
    return Why;
  for (const Part &P : Parts)
    if (P.Host)
      if (Failure Why = Work.toHost(P.Host, P.Live, P.Of.Bytes, bytes()))
        return Why;
  return Work.wait(bytes());
}

Failure MemoryCopy::compare(std::vector<Span> &Different) {
  Different.clear();
  std::vector<uint8_t> Differs(Chunks);
  if (Chunks == 0)
    return Failure::none();
  if (Failure Why = Work.Kernels.compare(Work.Stream, Device.all(), Flags))
    return Why;
  Failure Why = forEachStaged([&](const DeviceTable &Block, uint64_t FirstChunk) {
    return Work.Kernels.compare(Work.Stream, Block, Flags + FirstChunk);
  });
  if (!Why)
    Why = Work.toHost(Differs.data(), Flags, Chunks, bytes());
  if (!Why)
    Why = Work.wait();
  if (!Why)
    Different = joined(Differs);
  return Why;
}

std::vector<Span> MemoryCopy::joined(const std::vector<uint8_t> &Differs) const {
  std::vector<Span> Spans;
  uint64_t Chunk = 0;
  for (const Part &P : Parts)
    for (size_t At = 0; At < P.Of.Bytes; At += helper::ChunkBytes, ++Chunk) {
      if (!Differs[Chunk])
        continue;
      size_t Offset = P.Of.Offset + At;
      size_t Bytes = std::min<size_t>(helper::ChunkBytes, P.Of.Bytes - At);
      if (!Spans.empty() && Spans.back().Range == P.Of.Range &&
          Spans.back().Offset + Spans.back().Bytes == Offset)
        Spans.back().Bytes += Bytes;
      else
        Spans.push_back({P.Of.Range, Offset, Bytes});
    }
  return Spans;
}

Failure MemoryCopy::difference(OutputDifference &Difference) {
  Difference = OutputDifference();
  if (Parts.empty())
    return Failure::none();
  Failure Why = Work.zero(Total, sizeof(helper::Tally));
  if (!Why)
    Why = Work.Kernels.difference(Work.Stream, Device.all(), Total);
  if (!Why)
    Why = forEachStaged([&](const DeviceTable &Block, uint64_t) {
      return Work.Kernels.difference(Work.Stream, Block, Total);
    });
  helper::Tally Sum;
  if (!Why)
    Why = Work.toHost(&Sum, Total, sizeof Sum, bytes());
  if (!Why)
    Why = Work.wait();
  if (!Why)
    Difference = {Sum.Words, Sum.RelativeF32, Sum.RelativeF64, Sum.Multiset};
  return Why;
}

Failure MemoryCopy::makeLastTable(const std::vector<Span> &Spans) {
  if (Spans == LastSpans)
    return Failure::none();
  LastSpans.clear();
  LastTable.clear();
  forEachShared(Spans, [&](const Part &P, size_t Offset, size_t Bytes) {
    if (P.Shadow)
      LastTable.add(P.Live + Offset, P.Shadow + Offset, Bytes);
  });
  Failure Why = LastTable.upload(Work);
  if (!Why)
    LastSpans = Spans;
  return Why;
}

Failure MemoryCopy::putBack(const std::vector<Span> &Spans) {
  if (Spans.empty())
    return Failure::none();
  Failure Why = makeLastTable(Spans);
  if (!Why)
    Why = Work.Kernels.copy(Work.Stream, LastTable.all(), true);
  size_t Moved = LastTable.bytes();
  forEachShared(Spans, [&](const Part &P, size_t Offset, size_t Bytes) {
    if (!P.Host || Why)
      return;
    Why = Work.toDevice(P.Live + Offset, P.Host + Offset, Bytes);
    Moved += Bytes;
  });
  return Why ? Why : Work.wait(Moved);
}
