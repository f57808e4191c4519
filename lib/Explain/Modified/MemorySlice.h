/// \file
/// What of a kernel its memory traffic needs: accesses, their addresses, and the flow between them.
/// The first half of memoryOnly() (ModifiedKernel.h).
#pragma once

#include "Explain/Modified/RegisterFlow.h"

namespace carve {

/// A loop in which nothing of the slice stands: it is gone around.
struct IdleLoop {
  unsigned Loop = 0, Exit = 0; ///< The block behind it.
};

class MemorySlice {
public:
  /// \p Flow has to outlive it.
  explicit MemorySlice(const RegisterFlow &Flow);

  bool keeps(size_t Instruction) const { return Kept[Instruction]; }
  /// Whether an address or a branch depends on \p Register.
  bool needs(unsigned Register) const { return Needed[Register]; }
  /// Whether \p Register holds what a load gave, and nothing else but constants.
  bool holdsLoaded(unsigned Register) const { return Loaded[Register]; }
  /// Whether \p Instruction is in a loop that is gone around.
  bool isIdle(size_t Instruction) const { return InIdle[Instruction]; }
  /// Whether what \p Store (global or local) writes is in the slice, so that it can stay.
  bool keepsValue(size_t Store) const;
  const std::vector<IdleLoop> &idleLoops() const { return Idle; }
  /// Loads of global memory on whose values an address or a branch depends.
  const std::vector<size_t> &decidingLoads() const { return Deciding; }
  /// Of the arithmetic (not that of addresses and counters), weighted by loops: the share that the
  /// slice keeps although it depends on what was loaded, so that the kernel cannot be parted.
  double inseparable() const;

private:
  void slice();
  bool isRoot(size_t Instruction) const;
  void keep(size_t Instruction, bool Values);
  void need(unsigned Register);
  void keepShared();
  void keepLocal();
  std::optional<unsigned> exitOf(unsigned Loop) const;
  void addIdle(std::optional<unsigned> Parent);
  void markIdle(unsigned Loop, bool IsIdle);
  bool keepsAny(unsigned Loop) const;
  bool dropBusy();
  void findLoaded();
  bool isCopy(size_t Instruction, bool &FromLoaded) const;
  std::vector<bool> dataDependent() const;

  const RegisterFlow &Flow;
  std::vector<IdleLoop> Idle;
  std::vector<bool> InIdle; ///< By instruction.
  std::vector<bool> Kept, WithValues, Needed, Loaded, Constant;
  std::vector<unsigned> Pending; ///< Registers whose writers are to be kept.
  std::vector<size_t> Deciding;
  bool SharedKept = false, LocalKept = false;
};

} // namespace carve
