/// \file
/// What each instruction of a PTX function does to registers and to memory: what slices of a kernel
/// (ModifiedKernel.h) are found by.
#pragma once

#include "Ptx/PtxInstructions.h"
#include "Ptx/PtxModule.h"

#include <set>
#include <string>
#include <vector>

namespace carve {

enum class PtxAction {
  Compute,   ///< Registers to registers, warp-wide operations included.
  Control,   ///< Branches, barriers, the end.
  Parameter, ///< A load of a kernel's parameter or of a constant.
  Load,
  Store,
  Atomic, ///< With a result or without.
  Copy,   ///< `cp.async`, global to shared.
  Hint,   ///< `prefetch`
  Order,  ///< Fences, and the groups of `cp.async`.
  Call,   ///< With the stores of its arguments and the loads of its results.
  Other,  ///< Nothing that is known here.
};

enum class PtxSpace {
  None,
  Global, ///< Generic addresses included.
  Texture,
  Local,
  Shared,
};

/// One instruction, in the order of PtxFunction::Code. Registers by number.
struct PtxStep {
  PtxAction Action = PtxAction::Other;
  PtxSpace Space = PtxSpace::None;
  std::vector<unsigned> Writes, Reads; ///< The predicate is read.
  std::vector<unsigned> Where;         ///< Of Reads: those of the address and the predicate.
  bool ReadOnly = false;               ///< A load of what nobody writes while the kernel runs.
  size_t Call = 0;                     ///< PtxAction::Call: the instruction that calls.
};

struct PtxRegister {
  std::string Name, Type; ///< `%f1`, `.f32`
  std::vector<size_t> Writers, Readers;
  unsigned bits() const; ///< 1 for a predicate, 0 where the type is not known.
};

class RegisterFlow {
public:
  /// Fails where the text cannot be read (readPtxFunction()), or two registers of one name and of
  /// different widths stand in it.
  static llvm::Expected<RegisterFlow> read(llvm::StringRef Definition);

  const std::vector<PtxInstruction> &code() const { return F.Code; }
  const ControlFlow &flow() const { return F.Flow; }
  const std::vector<PtxStep> &steps() const { return Steps; }
  const std::vector<PtxRegister> &registers() const { return Registers; }
  unsigned blockOf(size_t Instruction) const { return Blocks[Instruction]; }
  unsigned depthOf(size_t Instruction) const { return F.Flow.depth(Blocks[Instruction]); }
  /// The number of a register that the function declares.
  std::optional<unsigned> find(llvm::StringRef Name) const;

  /// What the address that starts in \p Operand may be derived from: `K_param_0+8`, names of
  /// variables, and `*` for what memory holds or is not known.
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

/// Whether the functions with a body that \p Entry reaches compute in registers alone.
struct CalleeTraits {
  bool TouchMemory = false; ///< Or do what is not known; functions without a body included.
  bool Branch = false;      ///< Some have conditional branches.
};
llvm::Expected<CalleeTraits> calleeTraits(const PtxModule &M, const PtxEntry &Entry);

} // namespace carve
