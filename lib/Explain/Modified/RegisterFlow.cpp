// The order of instructions does not matter here: a register depends on whatever any of its writers
// reads. This finds more dependences than necessary, but it is right for code that is not in static
// single assignment form, such as the loops in nvcc's PTX.

#include "Explain/Modified/RegisterFlow.h"

#include "Ptx/PtxLexer.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace carve;
using namespace llvm;

/// The condition code of extended-precision arithmetic. No operand names it.
static constexpr StringLiteral CarryName = "%cc";

static const StringSet<> &computing() {
  static const StringSet<> Opcodes = {
      "abs",  "activemask", "add",       "addc",     "bfe",   "bfi",          "bfind", "bmsk",
      "brev", "clz",        "cnot",      "copysign", "cos",   "createpolicy", "cvt",   "cvta",
      "div",  "dp2a",       "dp4a",      "elect",    "ex2",   "fma",          "fns",   "isspacep",
      "lg2",  "lop3",       "mad",       "mad24",    "madc",  "match",        "max",   "min",
      "mma",  "mov",        "movmatrix", "mul",      "mul24", "neg",          "not",   "or",
      "popc", "prmt",       "rcp",       "redux",    "rem",   "rsqrt",        "sad",   "selp",
      "set",  "setp",       "shf",       "shfl",     "shl",   "shr",          "sin",   "slct",
      "sqrt", "sub",        "subc",      "szext",    "tanh",  "testp",        "vote",  "xor",
      "and"};
  return Opcodes;
}

static bool hasPrefix(const PtxInstruction &I, StringRef Prefix) {
  return any_of(I.Modifiers, [&](StringRef M) { return M.starts_with(Prefix); });
}

/// Returns the state space that \p I names, or Global for a generic address.
static PtxSpace spaceOf(const PtxInstruction &I) {
  if (hasPrefix(I, ".shared"))
    return PtxSpace::Shared;
  return I.has(".local") ? PtxSpace::Local : PtxSpace::Global;
}

static PtxAction actionOf(const PtxInstruction &I) {
  StringRef Op = I.Opcode;
  // Memory of another block or of several GPUs, and asynchronous writes.
  if (hasPrefix(I, ".shared::cluster") || hasPrefix(I, ".mbarrier"))
    return PtxAction::Other;
  if (Op == "ld" || Op == "ldu")
    return hasPrefix(I, ".param") || I.has(".const") ? PtxAction::Parameter : PtxAction::Load;
  if (Op == "st")
    return hasPrefix(I, ".param") ? PtxAction::Call : PtxAction::Store;
  if (Op == "tex" || Op == "tld4" || Op == "ldmatrix")
    return PtxAction::Load;
  if (Op == "stmatrix")
    return PtxAction::Store;
  if (Op == "wmma" && (I.has(".load") || I.has(".store"))) {
    if (spaceOf(I) != PtxSpace::Shared)
      return PtxAction::Other;
    return I.has(".load") ? PtxAction::Load : PtxAction::Store;
  }
  if (Op == "atom" || Op == "red")
    return hasPrefix(I, ".async") ? PtxAction::Other : PtxAction::Atomic;
  if (Op == "cp" && I.has(".async") && !hasPrefix(I, ".bulk") && !hasPrefix(I, ".reduce"))
    return hasPrefix(I, ".commit") || hasPrefix(I, ".wait") ? PtxAction::Order : PtxAction::Copy;
  if (Op == "prefetch" || Op == "prefetchu")
    return PtxAction::Hint;
  if ((Op == "membar" || Op == "fence") && !hasPrefix(I, ".proxy"))
    return PtxAction::Order;
  if (is_contained({"bra", "brx", "ret", "exit", "trap", "bar", "barrier"}, Op))
    return PtxAction::Control;
  if (Op == "call")
    return PtxAction::Call;
  bool Computes = computing().contains(Op) || (Op == "wmma" && I.has(".mma"));
  return Computes ? PtxAction::Compute : PtxAction::Other;
}

unsigned PtxRegister::bits() const {
  if (Type == ".pred")
    return 1;
  if (Type == ".f16x2" || Type == ".bf16x2")
    return 32;
  unsigned Bits = 0;
  StringRef Digits = StringRef(Type).drop_while([](char C) { return !isDigit(C); });
  return Digits.getAsInteger(10, Bits) ? 0 : Bits;
}

std::optional<unsigned> RegisterFlow::find(StringRef Name) const {
  auto It = Numbers.find(Name);
  if (It == Numbers.end())
    It = Numbers.find(Name.split('.').first); // This is an element of a vector, `%v.x`.
  return It == Numbers.end() ? std::nullopt : std::optional(It->second);
}

Error RegisterFlow::declareOne(StringRef Name, StringRef Type) {
  auto [It, New] = Numbers.try_emplace(Name, Registers.size());
  if (New)
    Registers.push_back({Name.str(), Type.str(), {}, {}});
  else if (Registers[It->second].bits() != PtxRegister{"", Type.str(), {}, {}}.bits())
    return unsupported("register-names", "two registers " + Name + ", of types " +
                                             Registers[It->second].Type + " and " + Type);
  return Error::success();
}

/// Reads declarations such as `.reg .b32 %r<59>, %x;`.
Error RegisterFlow::declare(StringRef Definition) {
  auto Tokens = lexPtx(Definition);
  if (!Tokens)
    return Tokens.takeError();
  for (size_t I = 0; I < Tokens->size(); ++I) {
    if (textOf(Definition, (*Tokens)[I]) != ".reg")
      continue;
    StringRef Type;
    for (++I; I < Tokens->size() && !isPunct(Definition, (*Tokens)[I], ';'); ++I) {
      const PtxToken &T = (*Tokens)[I];
      StringRef Word = textOf(Definition, T);
      if (T.Kind == PtxToken::Directive)
        Type = Word;
      if (T.Kind != PtxToken::Word)
        continue;
      unsigned Count = 0;
      bool Many = I + 2 < Tokens->size() && isPunct(Definition, (*Tokens)[I + 1], '<') &&
                  !textOf(Definition, (*Tokens)[I + 2]).getAsInteger(10, Count);
      if (!Many)
        if (Error E = declareOne(Word, Type))
          return E;
      for (unsigned N = 0; Many && N < Count; ++N)
        if (Error E = declareOne((Word + Twine(N)).str(), Type))
          return E;
    }
  }
  return declareOne(CarryName, ".b32");
}

PtxStep RegisterFlow::stepOf(const PtxInstruction &I) const {
  PtxStep S;
  S.Action = actionOf(I);
  bool IsMemory = is_contained(
      {PtxAction::Load, PtxAction::Store, PtxAction::Atomic, PtxAction::Copy, PtxAction::Hint},
      S.Action);
  if (I.Opcode == "tex" || I.Opcode == "tld4")
    S.Space = PtxSpace::Texture;
  else if (I.Opcode == "ldmatrix" || I.Opcode == "stmatrix")
    S.Space = PtxSpace::Shared;
  else if (IsMemory)
    S.Space = S.Action == PtxAction::Copy ? PtxSpace::Global : spaceOf(I);
  S.ReadOnly = S.Space == PtxSpace::Texture || I.has(".nc");
  auto Add = [&](StringRef Name, std::vector<unsigned> &To) {
    if (auto Number = find(Name); Number && !is_contained(To, *Number))
      To.push_back(*Number);
  };
  Add(I.Predicate, S.Reads);
  Add(I.Predicate, S.Where);
  for (auto [Index, O] : enumerate(I.Operands))
    for (StringRef Name : O.Names) {
      if (Index == 0 && I.hasResult()) {
        Add(Name, S.Writes);
        continue;
      }
      Add(Name, S.Reads);
      if (O.IsAddress)
        Add(Name, S.Where);
    }
  if (I.has(".cc"))
    Add(CarryName, S.Writes);
  if (I.Opcode == "addc" || I.Opcode == "subc" || I.Opcode == "madc")
    Add(CarryName, S.Reads);
  return S;
}

/// Marks the parts of each call. nvcc stores a call's arguments right before it and loads its
/// result right after it. Anything else is marked PtxAction::Other.
void RegisterFlow::groupCalls() {
  auto Is = [&](size_t I, StringRef Opcode) {
    return F.Code[I].Opcode == Opcode && hasPrefix(F.Code[I], ".param");
  };
  std::vector<bool> Grouped(Steps.size());
  for (size_t At = 0; At < Steps.size(); ++At) {
    if (F.Code[At].Opcode != "call")
      continue;
    size_t First = At, Last = At;
    while (First > 0 && Is(First - 1, "st"))
      --First;
    auto IsResult = [&](size_t I) {
      return Is(I, "ld") && StringRef(F.Code[I].Operands.back().name()).starts_with("retval");
    };
    while (Last + 1 < Steps.size() && IsResult(Last + 1))
      ++Last;
    for (size_t I = First; I <= Last; ++I) {
      Steps[I].Action = PtxAction::Call;
      Steps[I].Call = At;
      Grouped[I] = true;
    }
    if (calledName(F.Code[At]).starts_with("%"))
      Steps[At].Action = PtxAction::Other;
  }
  for (size_t I = 0; I < Steps.size(); ++I)
    if (Steps[I].Action == PtxAction::Call && !Grouped[I])
      Steps[I].Action = PtxAction::Other;
}

Expected<RegisterFlow> RegisterFlow::read(StringRef Definition) {
  RegisterFlow Result;
  auto Body = readPtxFunction(Definition);
  if (!Body)
    return Body.takeError();
  Result.F = std::move(*Body);
  if (Error E = Result.declare(Definition))
    return E;
  for (const PtxInstruction &I : Result.F.Code)
    Result.Steps.push_back(Result.stepOf(I));
  Result.groupCalls();
  Result.Blocks.resize(Result.Steps.size());
  for (auto [Index, B] : enumerate(Result.F.Flow.Blocks))
    for (size_t I = B.First; I < B.Last; ++I)
      Result.Blocks[I] = Index;
  for (auto [Index, S] : enumerate(Result.Steps)) {
    for (unsigned R : S.Writes)
      Result.Registers[R].Writers.push_back(Index);
    for (unsigned R : S.Reads)
      Result.Registers[R].Readers.push_back(Index);
  }
  return Result;
}

/// Adds what the base of a computed address may be. The factor of a product cannot be a base, and
/// neither can the index of an element, which is narrower than an address.
void RegisterFlow::addRootsOf(const PtxInstruction &I, std::set<unsigned> &Seen,
                              std::set<std::string> &Roots) const {
  if (I.Opcode == "ld" && hasPrefix(I, ".param")) {
    const PtxOperand &From = I.Operands.back();
    Roots.insert(From.name().str() + "+" + std::to_string(From.OffsetBytes));
    return;
  }
  if (is_contained({"mul", "shl", "setp", "bfe", "shr", "rem", "div"}, I.Opcode) ||
      (I.Opcode == "cvt" && find(I.Operands.back().name())
           ? Registers[*find(I.Operands.back().name())].bits() < 64
           : false))
    return;
  if (!is_contained({"mov", "add", "sub", "mad", "cvta", "selp", "min", "max", "cvt", "or", "and"},
                    I.Opcode)) {
    Roots.insert("*");
    return;
  }
  size_t First = I.Opcode == "mad" ? 3 : 1;
  for (const PtxOperand &O : ArrayRef(I.Operands).drop_front(std::min(First, I.Operands.size())))
    for (StringRef Name : O.Names) {
      if (auto Register = find(Name))
        addRoots(*Register, Seen, Roots);
      else if (!Name.empty() && !isDigit(Name[0]) && Name[0] != '-' && Name[0] != '%')
        Roots.insert(Name.str());
    }
}

void RegisterFlow::addRoots(unsigned Register, std::set<unsigned> &Seen,
                            std::set<std::string> &Roots) const {
  if (!Seen.insert(Register).second || Registers[Register].bits() == 1)
    return;
  for (size_t Writer : Registers[Register].Writers)
    addRootsOf(F.Code[Writer], Seen, Roots);
}

std::set<std::string> RegisterFlow::rootsOf(const PtxOperand &Operand) const {
  std::set<std::string> Roots;
  std::set<unsigned> Seen;
  for (StringRef Name : Operand.Names) {
    if (auto Register = find(Name))
      addRoots(*Register, Seen, Roots);
    else
      Roots.insert(Name.str());
  }
  if (Roots.empty())
    Roots.insert("*");
  return Roots;
}

Expected<CalleeTraits> carve::calleeTraits(const PtxModule &M, const PtxEntry &Entry) {
  CalleeTraits T;
  T.TouchMemory = Entry.CallsBodiless || Entry.CallsExternal || Entry.UnknownStack;
  for (const std::string &Callee : Entry.Callees) {
    StringRef Definition = M.definitionOf(Callee);
    if (Definition.empty()) {
      T.TouchMemory = true;
      continue;
    }
    auto Body = RegisterFlow::read(Definition);
    if (!Body)
      return Body.takeError();
    for (auto [Index, S] : enumerate(Body->steps())) {
      const PtxInstruction &I = Body->code()[Index];
      // Outside of a call, `st.param` writes the function's own result.
      bool InRegisters =
          is_contained({PtxAction::Compute, PtxAction::Parameter, PtxAction::Call}, S.Action) ||
          is_contained({"bra", "ret"}, I.Opcode) || (I.Opcode == "st" && hasPrefix(I, ".param"));
      T.TouchMemory |= !InRegisters;
      T.Branch |= I.Opcode == "bra" && !I.Predicate.empty();
    }
  }
  return T;
}
