#include "Probe/Memory/DeviceMemory.h"

#include <iterator>

using namespace carve::probe;

// The ranges. Entries never overlap: what is added replaces what it covers, whose end was missed.

void DeviceMemory::cut(CUdeviceptr At) {
  auto Next = Ranges.upper_bound(At);
  if (Next == Ranges.begin())
    return;
  auto &[Base, Whole] = *std::prev(Next);
  if (At == Base || At - Base >= Whole.Bytes)
    return;
  Entry Rest = Whole;
  Rest.Bytes -= At - Base;
  Whole.Bytes = At - Base;
  Ranges.emplace_hint(Next, At, Rest);
}

void DeviceMemory::removeSpan(CUdeviceptr Base, size_t Bytes) {
  cut(Base);
  cut(Base + Bytes);
  Ranges.erase(Ranges.lower_bound(Base), Ranges.lower_bound(Base + Bytes));
}

void DeviceMemory::add(CUdeviceptr Base, const Entry &New) {
  if (!Base || New.Bytes == 0)
    return;
  removeSpan(Base, New.Bytes);
  Ranges[Base] = New;
}

void DeviceMemory::addAsync(CUdeviceptr Base, size_t Bytes, MemoryKind Kind, CUcontext Context) {
  // In a capture this is a node of a graph, and nothing is there until the graph runs.
  add(Base, {Bytes, Capturing.empty() ? Kind : MemoryKind::Imported, Context});
}

DeviceMemory::Entries::const_iterator DeviceMemory::entryAt(CUdeviceptr Address) const {
  auto Next = Ranges.upper_bound(Address);
  if (Next == Ranges.begin())
    return Ranges.end();
  auto At = std::prev(Next);
  return Address - At->first < At->second.Bytes ? At : Ranges.end();
}

void DeviceMemory::share(CUdeviceptr Address) {
  auto At = entryAt(Address);
  if (At != Ranges.end())
    Ranges[At->first].Kind = MemoryKind::Imported;
}

void DeviceMemory::shareMappings(PhysicalHandle Handle) {
  Physical.shared(Handle);
  for (auto &[Base, Range] : Ranges)
    if (Range.Handle == Handle && !Range.Context)
      Range.Kind = MemoryKind::Imported;
}

void DeviceMemory::drop(CUcontext Context) {
  if (Context)
    std::erase_if(Ranges, [&](const auto &Range) { return Range.second.Context == Context; });
}

void DeviceMemory::dropContext(CUcontext Context) {
  std::lock_guard<std::mutex> Guard(Lock);
  drop(Context);
}

MemoryRange DeviceMemory::rangeOf(const Entries::value_type &Entry) {
  return {Entry.first, Entry.second.Bytes, Entry.second.Kind, Entry.second.Context,
          Entry.second.Owner};
}

std::vector<MemoryRange> DeviceMemory::ranges() const {
  std::lock_guard<std::mutex> Guard(Lock);
  std::vector<MemoryRange> All;
  for (const auto &Range : Ranges)
    if (Range.second.Writable)
      All.push_back(rangeOf(Range));
  return All;
}

std::optional<MemoryRange> DeviceMemory::find(CUdeviceptr Address) const {
  std::lock_guard<std::mutex> Guard(Lock);
  auto At = entryAt(Address);
  if (At == Ranges.end() || !At->second.Writable)
    return std::nullopt;
  return rangeOf(*At);
}

bool DeviceMemory::surfaces() const {
  std::lock_guard<std::mutex> Guard(Lock);
  return SurfaceReferences || !Surfaces.empty();
}

bool DeviceMemory::peers() const {
  std::lock_guard<std::mutex> Guard(Lock);
  return Peers;
}
