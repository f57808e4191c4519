/// \file
/// Finds what the values in the registers of a kernel come from: words of its parameters, numbers
/// that are computed from them, variables and memory. PointerSources asks it for the addresses of
/// the accesses.
#pragma once

#include "Nvcc/Text/KnownLaunch.h"
#include "Ptx/PtxInstructions.h"
#include "Ptx/PtxLexer.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <set>
#include <string>

namespace carve {

/// What the value in a register comes from.
struct ValueOrigin {
  enum Flag : unsigned {
    Variable = 1,  ///< The address of a variable of the module or the kernel, or of a parameter.
    Loaded = 2,    ///< It may be an address that was in memory, or that is put together.
    Mangled = 4,   ///< The address of a variable, changed in a way that is not followed.
    Sometimes = 8, ///< It has an address on some ways only.
  };
  std::set<PointerPlace> Bases = {}; ///< The words that may be the address in it.
  std::set<PointerPlace> Terms = {}; ///< The words that numbers in it are computed from.
  unsigned Flags = 0;

  bool hasAddress() const { return !Bases.empty() || Flags & Variable; }
  /// Adds \p Other; returns whether that changes anything.
  bool join(const ValueOrigin &Other) {
    size_t Count = Bases.size() + Terms.size();
    unsigned Before = Flags;
    Bases.insert(Other.Bases.begin(), Other.Bases.end());
    Terms.insert(Other.Terms.begin(), Other.Terms.end());
    Flags |= Other.Flags;
    return Flags != Before || Bases.size() + Terms.size() != Count;
  }
  /// Adds a number that is computed from \p Other.
  void addNumber(const ValueOrigin &Other, bool Scales) {
    Terms.insert(Other.Bases.begin(), Other.Bases.end());
    Terms.insert(Other.Terms.begin(), Other.Terms.end());
    Flags |= Other.Flags & (Scales ? Mangled : Mangled | Loaded);
    if (Other.Flags & Variable)
      Flags |= Mangled;
  }
};

/// The registers of an entry, with what their values come from. The order of the instructions does
/// not matter: a register has the origins of all values that it ever gets. So has a name that two
/// scopes declare.
class RegisterOrigins {
public:
  /// \p Body has the tokens of \p Text between the braces of the entry \p Name, whose instructions
  /// are \p F, which must live as long as this object.
  RegisterOrigins(llvm::StringRef Text, llvm::ArrayRef<PtxToken> Body, llvm::StringRef Name,
                  const PtxFunction &F);
  /// Returns where the value of a register, a number or the address of a variable comes from.
  ValueOrigin originOf(llvm::StringRef Name) const;

private:
  /// What a register may have besides 4 bytes or fewer.
  struct Type {
    bool Word = false, Double = false;
  };

  llvm::StringRef declared(llvm::StringRef Register) const;
  Type typeOf(llvm::StringRef Register) const { return Types.lookup(declared(Register)); }
  void readDeclarations(llvm::StringRef Text, llvm::ArrayRef<PtxToken> Body);
  void forEachResult(
      const PtxInstruction &I,
      llvm::function_ref<void(llvm::StringRef Register, const ValueOrigin &)> Visit) const;
  ValueOrigin loaded(const PtxInstruction &I, llvm::StringRef Register, size_t Element) const;
  ValueOrigin computed(const PtxInstruction &I, llvm::StringRef Register) const;
  void settle();
  void markSometimes();

  std::string ParamPrefix;
  const PtxFunction &F;
  /// By the name before the number, as in `%r<9>`, or by the whole name.
  llvm::StringMap<Type> Types;
  llvm::StringMap<ValueOrigin> Origins;
};

/// Returns the operand in brackets; null if \p I has none.
const PtxOperand *addressOf(const PtxInstruction &I);

} // namespace carve
