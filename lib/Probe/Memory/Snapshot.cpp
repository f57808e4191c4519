#include "Probe/Memory/Snapshot.h"

#include "Probe/Driver/DriverCalls.h"
#include "Probe/Driver/StreamCaptures.h"
#include "Probe/Memory/MemoryCopy.h"

#include <algorithm>
#include <atomic>
#include <mutex>

using namespace carve::probe;

struct Snapshot::Impl {
  Impl(const DriverApi &Driver, uint64_t WaitMs)
      : Work(Driver, WaitMs), Saved(Work), Reference(Work), Guarded(Work) {}

  Failure save(CUstream Stream);
  Failure checkRanges() const;
  Failure makeRoom();
  Failure whyNoFlushMemory() const;
  Failure place(MemoryCopy &Copy, const std::vector<MemoryRange> &Of,
                const std::vector<Span> &Spans);
  Failure scan(const std::vector<helper::Interval> &Intervals,
               std::optional<AddressInMemory> &Found);
  void forget();
  bool isScarce() const;
  void release();

  /// Protects the functions here. The number of bytes held can be read without it.
  std::mutex Lock;
  DeviceWork Work;
  MemoryCopy Saved, Reference, Guarded;
  std::vector<MemoryRange> Ranges, GuardRanges;
  std::vector<Span> ReferenceSpans;
  CUdeviceptr Flush = 0, Word = 0;
  size_t FlushBytes = 0;
  bool InUse = false; ///< True from save() to done().
  std::atomic<size_t> HeldBytes{0};
};

/// Only memory that exists may be saved: a kernel of the probe that reads other memory would break
/// the program's context.
Failure Snapshot::Impl::checkRanges() const {
  for (const MemoryRange &Range : Ranges) {
    CUdeviceptr Base = 0;
    size_t Bytes = 0;
    if (Range.Bytes == 0)
      continue;
    CUresult Result = Work.Driver.MemGetAddressRange(&Base, &Bytes, Range.Base);
    if (Result != CUDA_SUCCESS)
      return driverFailure("cuMemGetAddressRange", Result);
    // The driver may return only a part of mapped memory, if it was mapped piece by piece.
    bool Whole = Range.Base >= Base && Range.Base - Base <= Bytes &&
                 Range.Bytes <= Bytes - (Range.Base - Base);
    if (!Whole && Range.Kind != MemoryKind::Mapped)
      return Failure("memory-unknown");
  }
  return Failure::none();
}

/// Gets the memory of a snapshot. The flush buffer comes first: it is small, and without it no time
/// is valid.
Failure Snapshot::Impl::makeRoom() {
  CUdevice Device = 0;
  int L2Bytes = 0;
  (void)Work.Driver.CtxGetDevice(&Device);
  (void)Work.Driver.DeviceGetAttribute(&L2Bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, Device);
  FlushBytes = 2 * size_t(std::max(L2Bytes, 0)) / 16 * 16;
  size_t Wanted = FlushBytes;
  // Tables and flags need room as well: a byte for each chunk, and the cost of alignment.
  for (const MemoryRange &Range : Ranges)
    Wanted += Range.Bytes + helper::chunksOf(Range.Bytes) + 2 * ShadowMemory::Alignment +
              2 * sizeof(helper::Piece);
  Work.expect(Wanted + (size_t(1) << 20));
  Flush = FlushBytes ? Work.Memory.take(FlushBytes) : 0;
  Word = Work.Memory.takeLittle(sizeof(uint64_t));
  return Word ? Failure::none() : Failure("memory");
}

Failure Snapshot::Impl::save(CUstream Stream) {
  if (!Work.Driver.copies())
    return Failure("driver-incomplete");
  CaptureRelaxed Relaxed(Work.Driver);
  Work.Stream = Stream;
  Work.Memory.rewind();
  if (Failure Why = Work.Kernels.load())
    return Why;
  if (Failure Why = checkRanges())
    return Why;
  if (Failure Why = makeRoom())
    return Why;
  std::vector<Span> Whole;
  for (size_t I = 0; I < Ranges.size(); ++I)
    Whole.push_back({I, 0, Ranges[I].Bytes});
  Failure Why = Saved.place(Ranges, Whole);
  return Why ? Why : Saved.take();
}

void Snapshot::Impl::forget() {
  Saved.forget();
  Reference.forget();
  Guarded.forget();
  Ranges.clear();
  GuardRanges.clear();
  ReferenceSpans.clear();
  Work.Staging = Flush = Word = 0;
  FlushBytes = 0;
  InUse = false;
}

bool Snapshot::Impl::isScarce() const {
  size_t Free = 0, Total = 0;
  return Work.Memory.heldBytes() > 0 &&
         (Work.Driver.MemGetInfo(&Free, &Total) != CUDA_SUCCESS || Free < Total / 4);
}

void Snapshot::Impl::release() {
  CaptureRelaxed Relaxed(Work.Driver);
  forget();
  Work.Memory.release();
  HeldBytes = Work.Memory.heldBytes();
}

Snapshot::Snapshot(const DriverApi &Driver, uint64_t WaitMs)
    : State(std::make_unique<Impl>(Driver, WaitMs)) {}

Snapshot::~Snapshot() { release(); }

void Snapshot::limitHost(size_t Bytes) {
  std::lock_guard<std::mutex> Guard(State->Lock);
  State->Work.Memory.HostLimit = Bytes;
}

Failure Snapshot::save(std::vector<MemoryRange> Ranges, CUstream Stream) {
  std::lock_guard<std::mutex> Guard(State->Lock);
  State->forget();
  State->Ranges = std::move(Ranges);
  State->InUse = true;
  Failure Why = State->save(Stream);
  State->HeldBytes = State->Work.Memory.heldBytes();
  return Why;
}

Failure Snapshot::changed(std::vector<Span> &Spans) {
  std::lock_guard<std::mutex> Guard(State->Lock);
  return State->Saved.compare(Spans);
}

Failure Snapshot::restore(const std::vector<Span> &Spans) {
  std::lock_guard<std::mutex> Guard(State->Lock);
  return State->Saved.putBack(Spans);
}

Failure Snapshot::restoreAll() {
  std::vector<Span> Spans;
  Failure Why = changed(Spans);
  return Why ? Why : restore(Spans);
}

/// Finds room for \p Copy of \p Spans of \p Of.
Failure Snapshot::Impl::place(MemoryCopy &Copy, const std::vector<MemoryRange> &Of,
                              const std::vector<Span> &Spans) {
  CaptureRelaxed Relaxed(Work.Driver);
  size_t Wanted = 0;
  for (const Span &S : Spans)
    Wanted += S.Bytes + helper::chunksOf(S.Bytes) + 2 * ShadowMemory::Alignment +
              2 * sizeof(helper::Piece);
  Work.expect(Wanted);
  Failure Why = Copy.place(Of, Spans);
  HeldBytes = Work.Memory.heldBytes();
  return Why;
}

Failure Snapshot::keepReference(const std::vector<Span> &Spans) {
  std::lock_guard<std::mutex> Guard(State->Lock);
  if (Spans != State->ReferenceSpans) {
    State->ReferenceSpans.clear();
    if (Failure Why = State->place(State->Reference, State->Ranges, Spans))
      return Why;
    State->ReferenceSpans = Spans;
  }
  return State->Reference.take();
}

Failure Snapshot::guard(std::vector<MemoryRange> Ranges) {
  std::lock_guard<std::mutex> Guard(State->Lock);
  State->GuardRanges = std::move(Ranges);
  std::vector<Span> Whole;
  for (size_t I = 0; I < State->GuardRanges.size(); ++I)
    Whole.push_back({I, 0, State->GuardRanges[I].Bytes});
  Failure Why = State->place(State->Guarded, State->GuardRanges, Whole);
  return Why ? Why : State->Guarded.take();
}

Failure Snapshot::guardChanged(std::vector<Span> &Spans) {
  std::lock_guard<std::mutex> Guard(State->Lock);
  return State->Guarded.compare(Spans);
}

Failure Snapshot::guardPutBack(const std::vector<Span> &Spans) {
  std::lock_guard<std::mutex> Guard(State->Lock);
  return State->Guarded.putBack(Spans);
}

Failure Snapshot::keepLater(const std::vector<Span> &Spans) {
  std::lock_guard<std::mutex> Guard(State->Lock);
  State->ReferenceSpans.clear();
  Failure Why = State->place(State->Reference, State->GuardRanges, Spans);
  return Why ? Why : State->Reference.take();
}

Failure Snapshot::laterChanged(std::vector<Span> &Spans) {
  std::lock_guard<std::mutex> Guard(State->Lock);
  return State->Reference.compare(Spans);
}

Failure Snapshot::differenceFromReference(OutputDifference &Difference) {
  std::lock_guard<std::mutex> Guard(State->Lock);
  return State->Reference.difference(Difference);
}

/// Returns the ranges in sorted order, joined if they touch.
static std::vector<helper::Interval> intervalsOf(const std::vector<MemoryRange> &Pointed) {
  std::vector<helper::Interval> Sorted, Joined;
  for (const MemoryRange &Range : Pointed)
    if (Range.Bytes > 0)
      Sorted.push_back({Range.Base, Range.Base + Range.Bytes});
  std::sort(Sorted.begin(), Sorted.end(),
            [](const helper::Interval &A, const helper::Interval &B) { return A.Begin < B.Begin; });
  for (const helper::Interval &I : Sorted) {
    if (!Joined.empty() && I.Begin <= Joined.back().End)
      Joined.back().End = std::max(Joined.back().End, I.End);
    else
      Joined.push_back(I);
  }
  return Joined;
}

Failure Snapshot::Impl::scan(const std::vector<helper::Interval> &Intervals,
                             std::optional<AddressInMemory> &Found) {
  PieceTable Table;
  for (const MemoryRange &Range : Ranges)
    Table.add(Range.Base, 0, Range.Bytes);
  CUdeviceptr Pointed = Work.Memory.takeLittle(Intervals.size() * sizeof(helper::Interval));
  if (!Pointed || !Word)
    return Failure("memory");
  Failure Why = Table.upload(Work);
  if (!Why)
    Why = Work.toDevice(Pointed, Intervals.data(), Intervals.size() * sizeof(helper::Interval));
  if (!Why)
    Why = Work.zero(Word, sizeof(uint64_t));
  if (!Why)
    Why = Work.Kernels.scan(Work.Stream, Table.all(), Pointed,
                            static_cast<uint32_t>(Intervals.size()), Word);
  uint64_t Place = 0, Value = 0;
  if (!Why)
    Why = Work.toHost(&Place, Word, sizeof Place, Table.bytes());
  if (!Why)
    Why = Work.wait();
  if (Why || !Place)
    return Why;
  auto Its = std::find_if(Ranges.begin(), Ranges.end(),
                          [&](const MemoryRange &Range) { return Range.holds(Place); });
  if (Its == Ranges.end())
    return Failure("memory-unknown");
  Why = Work.toHost(&Value, Place, sizeof Value);
  if (!Why)
    Why = Work.wait();
  Found = {*Its, Value};
  return Why;
}

Failure Snapshot::pointsInto(const std::vector<MemoryRange> &Pointed,
                             std::optional<AddressInMemory> &Found) {
  std::lock_guard<std::mutex> Guard(State->Lock);
  Found.reset();
  std::vector<helper::Interval> Intervals = intervalsOf(Pointed);
  if (Intervals.empty())
    return Failure::none();
  CaptureRelaxed Relaxed(State->Work.Driver);
  Failure Why = State->scan(Intervals, Found);
  State->HeldBytes = State->Work.Memory.heldBytes();
  return Why;
}

/// Returns why there is no memory to drive other data out of L2, on a device that has L2.
Failure Snapshot::Impl::whyNoFlushMemory() const {
  return !Flush && (FlushBytes || !InUse) ? Failure("memory") : Failure::none();
}

Failure Snapshot::flushL2() {
  std::lock_guard<std::mutex> Guard(State->Lock);
  if (!State->Flush)
    return State->whyNoFlushMemory();
  // The first pass fills L2. Its lines would stay beside loads that are evicted first, which then
  // evict each other, as they do not in a program. The second pass makes its lines the first to go.
  for (bool EvictFirst : {false, true})
    if (Failure Why = State->Work.Kernels.read(State->Work.Stream, State->Flush, State->FlushBytes,
                                               State->Word, EvictFirst))
      return Why;
  return Failure::none();
}

Failure Snapshot::fillL2() {
  std::lock_guard<std::mutex> Guard(State->Lock);
  return State->Flush ? State->Work.zero(State->Flush, State->FlushBytes)
                      : State->whyNoFlushMemory();
}

size_t Snapshot::flushBytes() const {
  std::lock_guard<std::mutex> Guard(State->Lock);
  return State->FlushBytes;
}

void Snapshot::done() {
  std::lock_guard<std::mutex> Guard(State->Lock);
  State->forget();
  State->Work.Memory.settle();
  if (State->isScarce())
    State->release();
  State->HeldBytes = State->Work.Memory.heldBytes();
}

void Snapshot::release() {
  std::lock_guard<std::mutex> Guard(State->Lock);
  State->release();
}

bool Snapshot::releaseUnlessInUse() {
  std::unique_lock<std::mutex> Guard(State->Lock, std::try_to_lock);
  if (!Guard || State->InUse)
    return false;
  State->release();
  return State->HeldBytes == 0;
}

size_t Snapshot::heldBytes() const { return State->HeldBytes; }

size_t Snapshot::savedBytes() const {
  std::lock_guard<std::mutex> Guard(State->Lock);
  return State->Saved.bytes();
}

size_t Snapshot::spilledBytes() const {
  std::lock_guard<std::mutex> Guard(State->Lock);
  return State->Saved.hostBytes();
}

bool carve::probe::releaseForProgram(CUpti_CallbackId Id, Snapshot &Held) {
  return Held.heldBytes() > 0 && rolesOf(Id).any(Role::NeedsMemory) && Held.releaseUnlessInUse();
}
