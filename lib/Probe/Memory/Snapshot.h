/// \file
/// The content of device memory at one moment: saved, compared with what is there now, and put
/// back, as a replay needs it between two runs of a kernel. Everything runs on one stream of ours,
/// in the current context, while the program is held (SubmissionGate.h).
#pragma once

#include "Probe/Memory/DeviceMemory.h"
#include "Probe/Process/Failure.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace carve::probe {

/// A part of a range that was saved.
struct Span {
  size_t Range = 0; ///< Index into what was saved.
  size_t Offset = 0, Bytes = 0;

  bool operator==(const Span &) const = default;
};

/// How one run's output differs from the reference output, over the spans that the default writes.
/// Words are of 4 bytes; relative differences are |a-b| / max(|a|,|b|) under both readings of the
/// bytes, 0 where the words are equal, infinity where one of the two is not a number.
struct OutputDifference {
  uint64_t Words = 0;     ///< That differ.
  double RelativeF32 = 0; ///< Largest, words read as float.
  double RelativeF64 = 0; ///< Largest, aligned pairs of words read as double.
  uint64_t Multiset = 0;  ///< Order-independent sum of a hash of every word of this run.
  bool equal() const { return Words == 0; }
};

/// Where a failure is one of the driver's that breaks the context, nothing can be put back, and the
/// process has to end.
class Snapshot {
public:
  /// A wait on the device ends after \p WaitMs, and the more the more bytes are moved.
  explicit Snapshot(const DriverApi &Driver, uint64_t WaitMs = 10'000);
  ~Snapshot();
  Snapshot(const Snapshot &) = delete;
  Snapshot &operator=(const Snapshot &) = delete;

  /// Device memory that is left free: a launch may need some for its stack and local memory.
  static constexpr size_t ReserveBytes = size_t(1) << 30;

  /// Saves \p Ranges. Shadow memory is on the device as far as it fits beside ReserveBytes (or a
  /// sixteenth of the device, where that is less) left free, else on the host; `memory` where
  /// neither has room.
  Failure save(std::vector<MemoryRange> Ranges, CUstream Stream);
  /// Of the next save(): how many bytes may be kept on the host, which is slow to copy to and from.
  void limitHost(size_t Bytes);

  /// Copies \p Ranges as well, after save(): memory that the host may write at any time. It is no
  /// part of what the functions below compare and put back, those of HostGuard.h alone do that.
  Failure guard(std::vector<MemoryRange> Ranges);
  /// Where it is different now, as changed() tells of the rest.
  Failure guardChanged(std::vector<Span> &Spans);
  /// Puts back what guard() has copied of \p Spans.
  Failure guardPutBack(const std::vector<Span> &Spans);
  /// Copies \p Spans of it as they are now, until the next call or keepReference(); and tells
  /// where that is different now.
  Failure keepLater(const std::vector<Span> &Spans);
  Failure laterChanged(std::vector<Span> &Spans);

  /// What is different now from what was saved, as spans of whole chunks, neighbours joined.
  Failure changed(std::vector<Span> &Spans);

  /// Puts back what was saved: \p Spans as a whole, or everything that is different now, so that
  /// nothing is written which a kernel has not written.
  Failure restore(const std::vector<Span> &Spans);
  Failure restoreAll();

  /// Takes what stands in \p Spans now as the reference output.
  Failure keepReference(const std::vector<Span> &Spans);
  /// How \p Spans, those of the reference, differ from it now.
  Failure differenceFromReference(OutputDifference &Difference);

  /// Whether a word of the saved memory, as it stands now, looks like an address of \p Pointed
  /// (host or managed memory): then a kernel may reach it although no argument says so.
  Failure pointsInto(const std::vector<MemoryRange> &Pointed, bool &Found);

  /// Reads through memory of ours of twice the size of L2, so that nothing of the program's is
  /// left in it; reading leaves no write-back to the kernel that is timed next. Queued on the
  /// stream and not waited for.
  Failure flushL2();

  /// What was saved is not needed any more. Its memory is kept for the next save(), until the
  /// program needs it (releaseForProgram); where little else is free, it is given back at once: a
  /// launch may need much for its stack, and that no call tells.
  void done();
  /// Gives all memory of ours back; what was saved is lost.
  void release();
  /// The same, where nothing is saved now; else does nothing and returns false. Never waits,
  /// neither for a thread nor for work of the program.
  bool releaseUnlessInUse();
  /// Bytes of device memory that we hold now.
  size_t heldBytes() const;

  size_t savedBytes() const;
  /// Of these, what is kept on the host: restoring and comparing it is some 100 times slower.
  size_t spilledBytes() const;

private:
  struct Impl;
  std::unique_ptr<Impl> State;
};

/// At the entry of a call of the program: what \p Held holds is given back where \p Id has the role
/// NeedsMemory. From any thread; where nothing is held it costs one load. Does nothing
/// from save() to done(): such calls have to wait while a replay is under way. Whether anything was
/// given back.
bool releaseForProgram(CUpti_CallbackId Id, Snapshot &Held);

} // namespace carve::probe
