#include "Ptx/AssertArguments.h"

#include "llvm/ADT/StringMap.h"

using namespace carve;
using namespace llvm;

namespace {

using Instruction = ArrayRef<PtxToken>;

/// A register that is defined by a copy, `mov` or `cvta`. Source counts only if this is its one
/// definition.
struct Copy {
  const PtxToken *Source = nullptr;
  unsigned Definitions = 0;
};

class AssertFinder {
public:
  AssertFinder(StringRef Text, ArrayRef<PtxToken> Body) : Text(Text), Body(Body) {}
  DenseSet<size_t> run();

private:
  void collect();
  void readCall(size_t Call);
  /// Adds the constant that \p Value leads to through copies, if all uses on the way are arguments
  /// of asserts.
  void ignore(const PtxToken &Value, unsigned Depth = 0);

  StringRef Text;
  ArrayRef<PtxToken> Body;
  std::vector<Instruction> Instructions;
  std::vector<size_t> AssertCalls; // Indices into Instructions.
  StringMap<unsigned> Occurrences; // Uses and definitions of each register.
  StringMap<Copy> Copies;
  StringMap<unsigned> AssertUses;
  std::vector<const PtxToken *> Arguments;
  DenseSet<size_t> Result;
};

/// Returns the first word or number of \p Tokens from index \p I on, which is an operand; null if
/// there is none.
const PtxToken *operand(Instruction Tokens, size_t I) {
  for (; I < Tokens.size(); ++I)
    if (Tokens[I].Kind == PtxToken::Word || Tokens[I].Kind == PtxToken::Number)
      return &Tokens[I];
  return nullptr;
}

void AssertFinder::collect() {
  for (const PtxToken &T : Body)
    if (T.Kind == PtxToken::Word && T.Role == PtxToken::Operand)
      ++Occurrences[textOf(Text, T)];
  forEachInstruction(Text, Body, [&](Instruction Tokens) {
    StringRef Opcode = textOf(Text, Tokens[0]);
    if (Opcode == "call" &&
        any_of(Tokens, [&](const PtxToken &T) { return textOf(Text, T) == "__assertfail"; }))
      AssertCalls.push_back(Instructions.size());
    Instructions.push_back(Tokens);
    const PtxToken *Defined = operand(Tokens, 1);
    if (!Defined || (Opcode != "mov" && Opcode != "cvta"))
      return;
    Copy &C = Copies[textOf(Text, *Defined)];
    ++C.Definitions;
    C.Source = operand(Tokens, Defined - Tokens.data() + 1);
  });
}

/// Reads the stores before the call: `st.param.b64 [param0+0], %rd4` and so on, up to param2.
void AssertFinder::readCall(size_t Call) {
  for (size_t I = Call; I-- > 0;) {
    Instruction Tokens = Instructions[I];
    if (textOf(Text, Tokens[0]) != "st" || Tokens.size() < 2 || textOf(Text, Tokens[1]) != ".param")
      return;
    const PtxToken *Param = operand(Tokens, 1);
    const PtxToken &Value = Tokens.back();
    if (!Param)
      continue;
    StringRef Name = textOf(Text, *Param);
    if (Name != "param0" && Name != "param1" && Name != "param2")
      continue;
    Arguments.push_back(&Value);
    ++AssertUses[textOf(Text, Value)];
  }
}

void AssertFinder::ignore(const PtxToken &Value, unsigned Depth) {
  auto It = Copies.find(textOf(Text, Value));
  if (Value.Kind == PtxToken::Number || It == Copies.end()) {
    // This is a number, or the name of a string at the end of the copies.
    if (Value.Kind == PtxToken::Number || Depth)
      Result.insert(Value.Begin);
    return;
  }
  const Copy &C = It->second;
  StringRef Register = It->first();
  unsigned Uses = Depth ? 1 : AssertUses[Register];
  // nvcc emits two copies: `mov` of the string's address, and `cvta` of that.
  if (Depth < 2 && C.Definitions == 1 && C.Source && Occurrences[Register] == Uses + 1)
    ignore(*C.Source, Depth + 1);
}

DenseSet<size_t> AssertFinder::run() {
  collect();
  for (size_t Call : AssertCalls)
    readCall(Call);
  for (const PtxToken *Argument : Arguments)
    ignore(*Argument);
  return std::move(Result);
}

} // namespace

DenseSet<size_t> carve::findAssertArguments(StringRef Text, ArrayRef<PtxToken> Body) {
  return AssertFinder(Text, Body).run();
}
