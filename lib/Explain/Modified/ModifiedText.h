/// \file
/// Writes the text of a modified kernel (ModifiedKernel.h): removes or replaces instructions, folds
/// values into an accumulator, and keeps the accumulator alive by a condition that never holds.
/// MemoryOnly and ArithmeticOnly use it.
#pragma once

#include "Explain/Modified/RegisterFlow.h"

namespace carve {

/// The changes to one function. Instructions and registers are numbered as in its RegisterFlow.
class ModifiedText {
public:
  /// \p Definition is the text from which \p Flow was read. Both must outlive this object.
  ModifiedText(llvm::StringRef Definition, const RegisterFlow &Flow);

  /// Removes \p Instruction. What before() and after() add to it stays.
  void remove(size_t Instruction) { Changes[Instruction].Removed = true; }
  /// Adds \p Text before \p Instruction, after what was added there earlier.
  void before(size_t Instruction, const std::string &Text) { Changes[Instruction].Before += Text; }
  /// Adds \p Text after \p Instruction and what was added there earlier.
  void after(size_t Instruction, const std::string &Text) { Changes[Instruction].After += Text; }

  /// Returns statements that fold \p Register into the accumulator, under \p Predicate (`@%p1 `, or
  /// empty).
  std::string fold(unsigned Register, llvm::StringRef Predicate = "") const;
  /// Does the same for \p Name, a 32-bit register of our own.
  static std::string foldWord(llvm::StringRef Name, llvm::StringRef Predicate = "");
  /// Adds declarations and statements to the start of the function.
  void atStart(const std::string &Text) { Start += Text; }
  /// Returns a store of the accumulator to replace \p Store, with as many elements of as many bits.
  /// Returns an empty text if there is no such store.
  std::string storedInstead(const PtxInstruction &Store) const;
  /// Adds code before every exit of the function. It stores the accumulator, and touches the shared
  /// variables \p Kept, under a condition that is never true at run time, so that ptxas cannot
  /// remove the code that computes the accumulator.
  void guardExits(const std::vector<std::string> &Kept);

  /// Returns the changed function, with \p Name replaced by \p NewName. Fails if the text cannot be
  /// read.
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

/// A kernel in the form from which both modified versions start.
struct ReadKernel {
  llvm::StringRef Definition; ///< A part of the module's text.
  RegisterFlow Flow;
  CalleeTraits Callees;
  std::string WhyNot; ///< Why no version can be made of it; empty if one can.
};
/// Reads the entry \p Name of \p M. Fails if there is no such entry, or if it cannot be read.
llvm::Expected<ReadKernel> readForModification(const PtxModule &M, llvm::StringRef Name);

/// Returns the predicate of \p I as a prefix, `@!%p1 `, or an empty text.
std::string predicateOf(const PtxInstruction &I);

/// Returns the variables of static shared memory that \p Definition, a part of \p ModuleText, uses.
std::vector<std::string> sharedVariables(llvm::StringRef ModuleText, llvm::StringRef Definition);

} // namespace carve
