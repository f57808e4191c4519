/// \file
/// Tells what each instruction of a PTX function does to registers and to memory. The slices of
/// modified kernels (MemorySlice.h, ArithmeticOnly.cpp) are found with it.
#pragma once

#include "Ptx/PtxInstructions.h"
#include "Ptx/PtxModule.h"

#include <set>
#include <string>
#include <vector>

namespace carve {

/// What an instruction does.
enum class PtxAction {
  Compute,   ///< From registers to registers, including warp-wide operations.
  Control,   ///< Branches, barriers, and the end of the function.
  Parameter, ///< A load of a kernel's parameter or of a constant.
  Load,
  Store,
  Atomic, ///< With or without a result.
  Copy,   ///< `cp.async`, from global to shared memory.
  Hint,   ///< `prefetch`
  Order,  ///< Fences, and the commits and waits of `cp.async`.
  Call,   ///< A call, together with the stores of its arguments and the loads of its results.
  Other,  ///< Not known here.
};

/// The state space that an instruction accesses.
enum class PtxSpace {
  None,
  Global, ///< Global memory, or a generic address.
  Texture,
  Local,
  Shared,
};

/// One instruction, in the order of PtxFunction::Code. Registers are given by number.
struct PtxStep {
  PtxAction Action = PtxAction::Other;
  PtxSpace Space = PtxSpace::None;
  std::vector<unsigned> Writes, Reads; ///< Reads include the predicate.
  /// The registers in Reads that belong to the address or the predicate.
  std::vector<unsigned> Where;
  bool ReadOnly = false; ///< True for a load of memory that nobody writes while the kernel runs.
  size_t Call = 0;       ///< For PtxAction::Call: the index of the call instruction.
};

/// One register, with the instructions that write and read it.
struct PtxRegister {
  std::string Name, Type; ///< `%f1`, `.f32`
  std::vector<size_t> Writers, Readers;
  unsigned bits() const; ///< Its width in bits; 1 for a predicate, 0 if the type is not known.
};

/// The instructions of one function, with their registers and basic blocks.
class RegisterFlow {
public:
  /// Reads the text of one function. Fails if it cannot be read (readPtxFunction()), or if it
  /// declares two registers with the same name and different widths.
  static llvm::Expected<RegisterFlow> read(llvm::StringRef Definition);

  const std::vector<PtxInstruction> &code() const { return F.Code; }
  const ControlFlow &flow() const { return F.Flow; }
  const std::vector<PtxStep> &steps() const { return Steps; }
  const std::vector<PtxRegister> &registers() const { return Registers; }
  /// The basic block of \p Instruction.
  unsigned blockOf(size_t Instruction) const { return Blocks[Instruction]; }
  /// The number of loops that contain \p Instruction.
  unsigned depthOf(size_t Instruction) const { return F.Flow.depth(Blocks[Instruction]); }
  /// Returns the number of a register that the function declares, or nothing if there is no such
  /// register.
  std::optional<unsigned> find(llvm::StringRef Name) const;

  /// Returns what the address in \p Operand may be derived from: parameters as `K_param_0+8`, names
  /// of variables, and `*` for values that come from memory or are not known.
  std::set<std::string> rootsOf(const PtxOperand &Operand) const;

private:
  llvm::Error declare(llvm::StringRef Definition);
  llvm::Error declareOne(llvm::StringRef Name, llvm::StringRef Type);
  PtxStep stepOf(const PtxInstruction &I) const;
  void groupCalls();
  void addRoots(unsigned Register, std::set<unsigned> &Seen, std::set<std::string> &Roots) const;
  void addRootsOf(const PtxInstruction &I, std::set<unsigned> &Seen,
                  std::set<std::string> &Roots) const;

  PtxFunction F;
  std::vector<PtxStep> Steps;
  std::vector<PtxRegister> Registers;
  std::vector<unsigned> Blocks;
  llvm::StringMap<unsigned> Numbers;
};

/// Tells whether the functions that \p Entry reaches compute in registers only.
struct CalleeTraits {
  /// Some access memory or do something unknown. Functions without a body count here.
  bool TouchMemory = false;
  bool Branch = false; ///< Some have conditional branches.
};
/// Reads every function that \p Entry of \p M reaches. Fails if one of them cannot be read.
llvm::Expected<CalleeTraits> calleeTraits(const PtxModule &M, const PtxEntry &Entry);

} // namespace carve
