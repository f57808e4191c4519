/// \file
/// Reads those parts of a kernel's machine code that counting needs: which instructions access
/// memory and how widely, which ones wait, and where branches lead. The counts in
/// lib/Metrics/Counts and the modified kernels in lib/Explain use the result.
///
/// NVIDIA does not document the encoding. All of this was found by compiling kernels with nvcc 13.0
/// for sm_75, 80, 86, 89, 90, 100 and 120 and comparing the bytes with the listing of nvdisasm
/// 13.2; test/toolchain/MachineCodeTest.cpp repeats the comparison. An instruction has 128 bits:
/// - Bits 0..8 are the operation. Bits 9..11 are the form of its operands, which matters only for
///   branches and calls.
/// - Bits 12..14 are the guarding predicate, 7 for "always". Bit 15 negates it.
/// - Branches and calls give their target relative to the next instruction. Up to sm_89 it is a
///   signed number of bytes in bits 32..81. From sm_90 on it is a signed number of four-byte words,
///   with its low 8 bits in bits 16..23 and the others in bits 34..81. A conditional branch may
///   have a second predicate in bits 87..89, again with 7 for "always". A branch of form 5
///   (`BRA.U`) depends on a uniform predicate.
/// - Loads and stores have their width in bits 73..75: 0 and 1 for one byte, 2 and 3 for two bytes,
///   4 for 4, 5 for 8, and 6 for 16 bytes. Atomic operations have their type there, in another code
///   for each operation.
/// - Bits 24..31 are the first register that is read. 255 is zero, and an HFMA2 that reads it only
///   makes a constant.
/// - Bits 110..112 are the scoreboard that the result sets, 7 for none. Bits 116..121 have one bit
///   for each scoreboard that the instruction waits for.
#pragma once

#include "Ptx/ControlFlow.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// One instruction of machine code, as far as it is read.
struct MachineInstruction {
  enum KindTy {
    Other,
    /// Includes loads from generic addresses, textures and surfaces.
    GlobalLoad,
    GlobalStore,
    GlobalAtomic,
    GlobalToShared, ///< A copy that uses no register for the data.
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
    Return, ///< The return from a function.
    Exit,
    Nop,
  };

  /// The unit that executes an arithmetic instruction. One instruction of a tensor core is many
  /// operations.
  enum PipeTy { NoPipe, Fp32, IntegerMultiply, Integer, Fp64, Special, Tensor };

  KindTy Kind = Other;
  PipeTy Pipe = NoPipe;
  uint64_t Address = 0; ///< The offset in its section.
  unsigned Bytes = 0;   ///< What one thread accesses; 0 if the instruction does not say.
  bool Conditional = false;
  bool Swaps = false;             ///< An atomic operation of compare-and-swap.
  std::optional<uint64_t> Target; ///< The offset in its section that a branch or a call leads to.
  std::string Callee;             ///< The function in another section that a call leads to.
  std::optional<unsigned> SetsScoreboard;
  unsigned WaitsFor = 0; ///< One bit for each scoreboard.
  bool IsFloat = false;  ///< Floating-point or tensor arithmetic, without conversions.
};

/// A kernel or a function that it calls.
struct MachineFunction {
  std::string Section; ///< The function whose code section contains it.
  /// The offset of its first instruction in the section.
  uint64_t Entry = 0;
  std::vector<MachineInstruction> Code; ///< The code of the whole section.
  ControlFlow Flow;                     ///< Starts at Entry, which is in block 0.
};

/// Reads \p Kernel (its mangled name), followed by all that it calls directly or through other
/// calls. Fails if \p CubinBytes has no such kernel. Fails with Unsupported if the architecture is
/// unknown or older than sm_75, or if an instruction cannot be read.
llvm::Expected<std::vector<MachineFunction>> readMachineCode(llvm::StringRef CubinBytes,
                                                             llvm::StringRef Kernel);

} // namespace carve
