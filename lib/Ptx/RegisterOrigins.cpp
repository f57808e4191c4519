#include "Ptx/RegisterOrigins.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <array>

using namespace carve;
using namespace llvm;

namespace {

/// Opcodes whose results are no address and no number that is computed from one.
constexpr StringLiteral Questions[] = {"setp",    "set",   "testp", "isspacep",   "istypep",
                                       "vote",    "match", "elect", "activemask", "bar",
                                       "barrier", "txq",   "suq"};

/// Operations with a `k` for each operand that may be the address in an address. The other operands
/// of all operations are parts of numbers.
constexpr struct {
  StringLiteral Opcode, Operands;
} Keeping[] = {{"add", "kk"},  {"addc", "kk"}, {"sub", "k"},   {"subc", "k"},    {"cvta", "k"},
               {"selp", "kk"}, {"slct", "kk"}, {"min", "kk"},  {"max", "kk"},    {"and", "kk"},
               {"or", "kk"},   {"mov", "k"},   {"mad", "--k"}, {"mad24", "--k"}, {"madc", "--k"}};

/// Operations whose result is a number, even if an operand is an address that was loaded from
/// memory. What Keeping says of them still counts.
constexpr StringLiteral Scaling[] = {"mad", "mad24", "madc", "mul",  "mul24", "shl",
                                     "bfe", "div",   "rem",  "popc", "clz",   "bfind"};

/// The other operations on numbers. The result of one that is not known may be an address.
constexpr StringLiteral Arithmetic[] = {"shr", "xor",   "not",  "neg", "abs",  "cvt",
                                        "bfi", "brev",  "prmt", "shf", "lop3", "cnot",
                                        "fma", "szext", "sad",  "bmsk"};

/// Returns the size of a type such as `.u32` in bits; 0 if \p Modifier is no such type.
unsigned typeBits(StringRef Modifier) {
  unsigned Bits = 0;
  return Modifier.drop_front().ltrim("usbf").getAsInteger(10, Bits) ? 0 : Bits;
}

bool isFloat(StringRef Modifier) {
  return (Modifier.consume_front(".f") || Modifier.consume_front(".bf") ||
          Modifier.consume_front(".tf")) &&
         !Modifier.empty() && isDigit(Modifier.front());
}

bool isNumber(StringRef Name) {
  StringRef Digits = Name.ltrim('-');
  return Name == "WARP_SZ" || (!Digits.empty() && isDigit(Digits.front()));
}

/// Whether the operation brings 8 bytes or more for each register.
bool movesWords(const PtxInstruction &I) {
  return any_of(I.Modifiers, [](StringRef M) { return typeBits(M) >= 64; });
}

/// Returns the letters of Keeping for \p Opcode.
StringRef keptOperands(StringRef Opcode) {
  for (const auto &Rule : Keeping)
    if (Rule.Opcode == Opcode)
      return Rule.Operands;
  return "";
}

bool isArithmetic(StringRef Opcode) {
  return !keptOperands(Opcode).empty() || is_contained(Scaling, Opcode) ||
         is_contained(Arithmetic, Opcode);
}

/// Whether \p I converts from or to 4 bytes or fewer, or a floating-point number.
bool isConversionOfNarrow(const PtxInstruction &I) {
  return I.Opcode == "cvt" && any_of(I.Modifiers, [](StringRef M) {
           return isFloat(M) || (typeBits(M) && typeBits(M) <= 32);
         });
}

/// Whether the result is a generic address outside of global memory, whatever the operand is.
bool isCvtaOfOwnMemory(const PtxInstruction &I) {
  return I.Opcode == "cvta" && !I.has(".to") && !I.has(".global");
}

/// Whether \p I keeps 4 bytes of its operand at most.
bool isNarrowMask(const PtxInstruction &I) {
  return I.Opcode == "and" && any_of(I.Operands, [](const PtxOperand &O) {
           uint32_t Mask = 0;
           return !O.name().getAsInteger(0, Mask);
         });
}

} // namespace

const PtxOperand *carve::addressOf(const PtxInstruction &I) {
  auto Found = find_if(I.Operands, [](const PtxOperand &O) { return O.IsAddress; });
  return Found == I.Operands.end() ? nullptr : &*Found;
}

RegisterOrigins::RegisterOrigins(StringRef Text, ArrayRef<PtxToken> Body, StringRef Name,
                                 const PtxFunction &F)
    : ParamPrefix((Name + "_param_").str()), F(F) {
  readDeclarations(Text, Body);
  settle();
  markSometimes();
  settle();
}

/// Two scopes may declare a name with different types. Then it may have what either has.
void RegisterOrigins::readDeclarations(StringRef Text, ArrayRef<PtxToken> Body) {
  for (size_t I = 0; I + 1 < Body.size(); ++I) {
    if (textOf(Text, Body[I]) != ".reg")
      continue;
    StringRef Declared = textOf(Text, Body[++I]);
    for (; I < Body.size() && !isPunct(Text, Body[I], ';'); ++I)
      if (Body[I].Kind == PtxToken::Word) {
        Type &T = Types[textOf(Text, Body[I])];
        T.Double |= Declared == ".f64";
        T.Word |= Declared != ".f64" && typeBits(Declared) >= 64;
      }
  }
}

/// Returns the name by which \p Register is declared; empty if it is not.
StringRef RegisterOrigins::declared(StringRef Register) const {
  if (Types.contains(Register))
    return Register;
  StringRef Stem = Register.rtrim("0123456789");
  return Types.contains(Stem) ? Stem : "";
}

ValueOrigin RegisterOrigins::originOf(StringRef Name) const {
  if (isNumber(Name))
    return {};
  if (Name.starts_with("%") || !declared(Name).empty())
    return Origins.lookup(Name);
  // An element of a vector register, such as `v.x`.
  if (Name.contains('.'))
    return {.Flags = ValueOrigin::Loaded};
  return {.Flags = ValueOrigin::Variable};
}

ValueOrigin RegisterOrigins::loaded(const PtxInstruction &I, StringRef Register,
                                    size_t Element) const {
  Type Own = typeOf(Register);
  if (!movesWords(I) || (Own.Double && !Own.Word))
    return {};
  const PtxOperand *Address = addressOf(I);
  bool IsParameter = any_of(I.Modifiers, [](StringRef M) { return M.starts_with(".param"); });
  if (!Address || !IsParameter || I.has(".b128"))
    return {.Flags = ValueOrigin::Loaded};
  StringRef Name = Address->name();
  PointerPlace Place;
  if (!Name.consume_front(ParamPrefix) || Name.getAsInteger(10, Place.Parameter) ||
      Address->OffsetBytes < 0)
    return {.Flags = ValueOrigin::Loaded};
  Place.Offset = Address->OffsetBytes + 8 * Element;
  return {.Bases = {Place}};
}

ValueOrigin RegisterOrigins::computed(const PtxInstruction &I, StringRef Register) const {
  if (isCvtaOfOwnMemory(I))
    return {.Flags = ValueOrigin::Variable};
  bool OfBits = I.Opcode == "mov" || I.Opcode == "selp" || I.Opcode == "slct";
  bool OfFloats = !OfBits && !I.Modifiers.empty() && isFloat(I.Modifiers.back());
  bool Splits = I.Operands.front().Names.size() > 1, Packs = false, FromDouble = false;
  bool Scales = OfFloats || is_contained(Scaling, I.Opcode) || isConversionOfNarrow(I);
  StringRef Kept = OfFloats || Splits ? "" : keptOperands(I.Opcode);
  ValueOrigin O;
  for (auto [N, Operand] : enumerate(drop_begin(I.Operands))) {
    if (Operand.IsAddress)
      continue;
    Packs |= Operand.Names.size() > 1;
    bool Keeps = Operand.Names.size() == 1 && Kept.substr(N).starts_with("k");
    for (StringRef Name : Operand.Names) {
      FromDouble |= typeOf(Name).Double;
      if (Keeps)
        O.join(originOf(Name));
      else
        O.addNumber(originOf(Name), Scales);
    }
  }
  if (isNarrowMask(I))
    O.Flags &= ~ValueOrigin::Loaded;
  // A loaded number in a register for floating-point numbers has no origin (loaded()).
  if (typeOf(Register).Word && (!isArithmetic(I.Opcode) || Packs || (OfBits && FromDouble)))
    O.Flags |= ValueOrigin::Loaded;
  return O;
}

void RegisterOrigins::forEachResult(
    const PtxInstruction &I,
    function_ref<void(StringRef Register, const ValueOrigin &)> Visit) const {
  if (!I.hasResult() || is_contained(Questions, I.Opcode))
    return;
  bool Loads = I.Opcode == "ld" || I.Opcode == "ldu" || I.Opcode == "atom";
  for (auto [Element, Register] : enumerate(I.Operands.front().Names))
    Visit(Register, Loads ? loaded(I, Register, Element) : computed(I, Register));
}

/// Computes all origins. They only grow, so this ends.
void RegisterOrigins::settle() {
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (const PtxInstruction &I : F.Code)
      forEachResult(I, [&](StringRef Register, const ValueOrigin &O) {
        Changed |= Origins[Register].join(O);
      });
  }
}

/// Marks the registers that have an address on some ways, and on others a number that may be one,
/// too. A constant is not: it is null.
void RegisterOrigins::markSometimes() {
  StringMap<std::array<bool, 2>> Seen; // Without an address, with one.
  for (const PtxInstruction &I : F.Code)
    forEachResult(I, [&](StringRef Register, const ValueOrigin &O) {
      bool Chooses = is_contained({"selp", "slct", "min", "max", "mov"}, I.Opcode);
      if (!Chooses)
        Seen[Register][O.hasAddress()] = true;
      for (const PtxOperand &Operand : ArrayRef(I.Operands).slice(1).take_front(Chooses ? 2 : 0))
        if (!isNumber(Operand.name()))
          Seen[Register][O.hasAddress() && originOf(Operand.name()).hasAddress()] = true;
    });
  for (const auto &[Register, Ways] : Seen)
    if (Ways[0] && Ways[1])
      Origins[Register].Flags |= ValueOrigin::Sometimes;
}
