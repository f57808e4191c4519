/// \file
/// Reads as much of a kernel's machine code as counting it takes: which instructions touch memory
/// and how widely, which wait, and where branches lead.
///
/// There is no public description of the encoding. All here was found by compiling kernels with
/// nvcc 13.0 for sm_75, 80, 86, 89, 90, 100 and 120 and comparing the bytes with the listing of
/// nvdisasm 13.2; test/toolchain/MachineCodeTest.cpp does it again. An instruction has 128 bits:
/// - 0..8: the operation; 9..11: the form of its operands, which tells nothing here.
/// - 12..14: the guarding predicate, 7 is "always"; 15 negates it.
/// - Branches and calls name their target relative to the next instruction: up to sm_89 in bytes,
///   signed, in bits 32..81; from sm_90 on in words of four bytes, signed, whose low 8 bits are
///   bits 16..23 and whose others are bits 34..81. A conditional branch may have a second
///   predicate, in bits 87..89, 7 again being "always"; one of form 5 (`BRA.U`) is governed by a
///   uniform one.
/// - Loads and stores: 73..75 the width: 0 and 1 one byte, 2 and 3 two bytes, 4: 4, 5: 8, 6: 16.
///   Atomic operations have their type there, in another code for each operation.
/// - 24..31: the first register that is read, 255 is zero: HFMA2 of it only makes a constant.
/// - 110..112: the scoreboard that the result sets, 7 is none; 116..121: scoreboards, one bit each,
///   that the instruction waits for.
#pragma once

#include "Ptx/ControlFlow.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

struct MachineInstruction {
  enum KindTy {
    Other,
    GlobalLoad, ///< Of generic addresses too, and textures and surfaces.
    GlobalStore,
    GlobalAtomic,
    GlobalToShared, ///< A copy that no register takes part in.
    SharedLoad,
    SharedStore,
    SharedAtomic,
    LocalLoad,
    LocalStore,
    Barrier,
    Branch,
    IndirectBranch,
    Call,
    IndirectCall,
    Return, ///< From a function.
    Exit,
    Nop,
  };

  /// Who carries it out, of those that do arithmetic; a tensor core's instruction is of many
  /// operations.
  enum PipeTy { NoPipe, Fp32, IntegerMultiply, Integer, Fp64, Special, Tensor };

  KindTy Kind = Other;
  PipeTy Pipe = NoPipe;
  uint64_t Address = 0; ///< In its section.
  unsigned Bytes = 0;   ///< Of a thread's access; 0 where it does not say.
  bool Conditional = false;
  bool Swaps = false;             ///< An atomic operation that compares and swaps.
  std::optional<uint64_t> Target; ///< Of a branch or a call, in its section.
  std::string Callee;             ///< Of a call that leads to another section.
  std::optional<unsigned> SetsScoreboard;
  unsigned WaitsFor = 0; ///< A bit for each scoreboard.
  bool IsFloat = false;  ///< Floating-point or tensor arithmetic; conversions are none.
};

/// A kernel or a function that it calls.
struct MachineFunction {
  std::string Section; ///< The function of whose code section it is a part.
  uint64_t Entry = 0;
  std::vector<MachineInstruction> Code; ///< Of the whole section.
  ControlFlow Flow;                     ///< From Entry; block 0 is there.
};

/// The kernel, and then all that it calls directly. Fails where \p CubinBytes has no such kernel,
/// and as Unsupported where the architecture is older than sm_75 or not known, or an instruction
/// does not make sense.
llvm::Expected<std::vector<MachineFunction>> readMachineCode(llvm::StringRef CubinBytes,
                                                             llvm::StringRef Kernel);

} // namespace carve
