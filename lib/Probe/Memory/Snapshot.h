/// \file
/// The content of device memory at one moment. A replay saves it, compares it with the present
/// content, and puts it back between two runs of a kernel. All work runs on one stream of the
/// probe's own, in the current context, while the program is held (SubmissionGate.h).
#pragma once

#include "Probe/Memory/DeviceMemory.h"
#include "Probe/Process/Failure.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace carve::probe {

/// A part of a range that was saved.
struct Span {
  size_t Range = 0; ///< The index in the ranges that were saved.
  size_t Offset = 0, Bytes = 0;

  bool operator==(const Span &) const = default;
};

/// How the output of one run differs from the reference output, over the spans that the default
/// writes. A word has 4 bytes. A relative difference is |a-b| / max(|a|,|b|), computed for both
/// readings of the bytes. It is 0 if the words are equal and infinite if one of them is not a
/// number.
struct OutputDifference {
  uint64_t Words = 0;     ///< The number of words that differ.
  double RelativeF32 = 0; ///< The largest difference, with words read as float.
  double RelativeF64 = 0; ///< The largest difference, with aligned pairs of words read as double.
  /// The sum of a hash of every word of this run, which does not depend on their order.
  uint64_t Multiset = 0;
  bool equal() const { return Words == 0; }
};

/// A word of saved memory that is an address.
struct AddressInMemory {
  MemoryRange In;        ///< The range that the word is in.
  CUdeviceptr Value = 0; ///< The address.
};

/// A snapshot of one context at a time. If a function fails because an error of the driver has
/// broken the context, nothing can be put back, and the process has to end.
class Snapshot {
public:
  /// A wait on the device fails after \p WaitMs, and later if many bytes are moved
  /// (DeviceWork::wait()).
  explicit Snapshot(const DriverApi &Driver, uint64_t WaitMs = 10'000);
  ~Snapshot();
  Snapshot(const Snapshot &) = delete;
  Snapshot &operator=(const Snapshot &) = delete;

  /// The device memory that is left free, because a launch may need some for its stack and local
  /// memory.
  static constexpr size_t ReserveBytes = size_t(1) << 30;

  /// Saves \p Ranges. The copies are on the device as far as they fit there while ReserveBytes (or
  /// a sixteenth of the device's memory, if that is less) stay free, and otherwise on the host.
  /// Fails with `memory` if neither has room.
  Failure save(std::vector<MemoryRange> Ranges, CUstream Stream);
  /// Limits the bytes that the next save() may keep on the host, from and to which copies are slow.
  void limitHost(size_t Bytes);

  /// Also copies \p Ranges, which the host may write at any time; called after save(). The
  /// functions below neither compare nor put back this memory; only those of HostGuard.h do.
  Failure guard(std::vector<MemoryRange> Ranges);
  /// Writes to \p Spans where the memory of guard() is different now, in the form of changed().
  Failure guardChanged(std::vector<Span> &Spans);
  /// Puts back the copies of guard() for \p Spans.
  Failure guardPutBack(const std::vector<Span> &Spans);
  /// Copies the present content of \p Spans of the memory of guard(), until the next call or
  /// keepReference(). laterChanged() tells where it is different from that copy.
  Failure keepLater(const std::vector<Span> &Spans);
  Failure laterChanged(std::vector<Span> &Spans);

  /// Writes to \p Spans what is different now from what was saved, as spans of whole chunks, with
  /// neighbours joined.
  Failure changed(std::vector<Span> &Spans);

  /// restore() puts back all of \p Spans. restoreAll() puts back everything that is different now,
  /// and so writes nothing that no kernel has written.
  Failure restore(const std::vector<Span> &Spans);
  Failure restoreAll();

  /// Takes the present content of \p Spans as the reference output.
  Failure keepReference(const std::vector<Span> &Spans);
  /// Compares the present content of the reference's spans with the reference.
  Failure differenceFromReference(OutputDifference &Difference);

  /// Sets \p Found to a word of the saved memory that looks, in its present content, like an
  /// address in \p Pointed (host or managed memory), if there is one. A kernel may then reach that
  /// memory although no argument points to it.
  Failure pointsInto(const std::vector<MemoryRange> &Pointed,
                     std::optional<AddressInMemory> &Found);

  /// Reads through memory of the probe of twice the size of L2, so that no data of the program
  /// stays in it. It reads rather than writes, so that the kernel that is timed next does not pay
  /// for write-backs. The lines that it leaves are the first to be evicted. The reads are queued on
  /// the stream; the function does not wait for them.
  Failure flushL2();
  /// Writes the memory that flushL2() reads. The kernel that is timed next has to wait until this
  /// data has left L2, as it has to after a kernel of the program that has written much. The writes
  /// are queued, too.
  Failure fillL2();
  /// Returns the bytes of the memory that flushL2() reads.
  size_t flushBytes() const;

  /// Says that what was saved is not needed any more. The memory is kept for the next save() until
  /// the program needs it (releaseForProgram). If little other memory is free, it is given back at
  /// once, because a launch may need much for its stack and no call says so.
  void done();
  /// Gives all memory of the probe back. What was saved is lost.
  void release();
  /// As release() if nothing is saved now. Otherwise does nothing and returns false. It never
  /// waits, neither for a thread nor for work of the program.
  bool releaseUnlessInUse();
  /// Returns the bytes of device memory that are held now.
  size_t heldBytes() const;

  size_t savedBytes() const;
  /// Returns how many of the saved bytes are on the host. Restoring and comparing these is about
  /// 100 times slower.
  size_t spilledBytes() const;

private:
  struct Impl;
  std::unique_ptr<Impl> State;
};

/// Called at the entry of a call of the program. If \p Id has the role NeedsMemory, gives back the
/// memory that \p Held holds. It may be called from any thread, and costs one load if nothing is
/// held. From save() to done() it does nothing, because such calls have to wait while a replay
/// runs. Returns whether anything was given back.
bool releaseForProgram(CUpti_CallbackId Id, Snapshot &Held);

} // namespace carve::probe
