/// \file
/// Writes a modified kernel (ModifiedKernel.h): instructions removed or replaced, values folded
/// into an accumulator, and the accumulator kept alive by a condition that never holds.
#pragma once

#include "Explain/Modified/RegisterFlow.h"

namespace carve {

class ModifiedText {
public:
  /// \p Definition is the text that \p Flow was read from, and has to outlive this.
  ModifiedText(llvm::StringRef Definition, const RegisterFlow &Flow);

  void remove(size_t Instruction) { Changes[Instruction].Removed = true; }
  void before(size_t Instruction, const std::string &Text) { Changes[Instruction].Before += Text; }
  void after(size_t Instruction, const std::string &Text) { Changes[Instruction].After += Text; }

  /// Statements that fold \p Register into the accumulator, under \p Predicate (`@%p1 `, or empty).
  std::string fold(unsigned Register, llvm::StringRef Predicate = "") const;
  /// The same for the 32 bits of a register of our own.
  static std::string foldWord(llvm::StringRef Name, llvm::StringRef Predicate = "");
  /// Declarations and statements for the start of the function.
  void atStart(const std::string &Text) { Start += Text; }
  /// What a store writes that writes the accumulator: as many elements of as many bits as \p Store
  /// has. Empty where there is no such.
  std::string storedInstead(const PtxInstruction &Store) const;
  /// Makes every end of the function store the accumulator, and touch the shared variables \p Kept,
  /// where it has a value that it never has.
  void guardExits(const std::vector<std::string> &Kept);

  /// The whole, \p Name exchanged for \p NewName.
  llvm::Expected<std::string> finish(llvm::StringRef Name, llvm::StringRef NewName) const;

private:
  struct Change {
    std::string Before, After;
    bool Removed = false;
  };

  llvm::StringRef Definition;
  const RegisterFlow &Flow;
  std::vector<Change> Changes; ///< By instruction.
  std::string Start;
};

/// A kernel as both modified versions start from it.
struct ReadKernel {
  llvm::StringRef Definition; ///< Of the module's text.
  RegisterFlow Flow;
  CalleeTraits Callees;
  std::string WhyNot; ///< Why nothing can be made of it; empty: it may be.
};
/// Fails where \p M has no entry \p Name, or it cannot be read.
llvm::Expected<ReadKernel> readForModification(const PtxModule &M, llvm::StringRef Name);

/// `@!%p1 `, or nothing.
std::string predicateOf(const PtxInstruction &I);

/// Variables of static shared memory that \p Definition, a part of \p ModuleText, names.
std::vector<std::string> sharedVariables(llvm::StringRef ModuleText, llvm::StringRef Definition);

} // namespace carve
