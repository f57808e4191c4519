/// \file
/// Finds the part of a kernel that its memory traffic needs: the accesses, their addresses, and the
/// control flow between them. It is the first half of memoryOnly(); see ModifiedKernel.h.
#pragma once

#include "Explain/Modified/RegisterFlow.h"

namespace carve {

/// A loop without any instruction of the slice. The modified kernel jumps around it.
struct IdleLoop {
  unsigned Loop = 0, Exit = 0; ///< Exit is the block after the loop.
};

/// The slice of one function. Instructions and registers are numbered as in its RegisterFlow.
class MemorySlice {
public:
  /// Finds the slice. \p Flow must outlive it.
  explicit MemorySlice(const RegisterFlow &Flow);

  /// True if \p Instruction is in the slice.
  bool keeps(size_t Instruction) const { return Kept[Instruction]; }
  /// True if an address or a branch depends on \p Register.
  bool needs(unsigned Register) const { return Needed[Register]; }
  /// True if \p Register holds loaded values, and otherwise only constants.
  bool holdsLoaded(unsigned Register) const { return Loaded[Register]; }
  /// True if \p Instruction is in a loop that the modified kernel jumps around.
  bool isIdle(size_t Instruction) const { return InIdle[Instruction]; }
  /// True if the value that \p Store writes (to global or local memory) is in the slice, so that
  /// the store can stay as it is.
  bool keepsValue(size_t Store) const;
  const std::vector<IdleLoop> &idleLoops() const { return Idle; }
  /// The loads of global memory on whose values an address or a branch depends.
  const std::vector<size_t> &decidingLoads() const { return Deciding; }
  /// Returns the share of the arithmetic that the slice keeps although it depends on loaded values,
  /// so that the kernel cannot be divided, from 0 to 1. Instructions count more in deeper loops,
  /// and the arithmetic of addresses and counters does not count.
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
  std::vector<unsigned> Pending; ///< Registers whose writers must be kept.
  std::vector<size_t> Deciding;
  bool SharedKept = false, LocalKept = false;
};

} // namespace carve
