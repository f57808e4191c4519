#include "Ptx/PtxBody.h"

#include "Ptx/GlobalLoads.h"

#include "llvm/ADT/StringSet.h"

using namespace carve;
using namespace llvm;

/// Returns the index after the parenthesised list that starts at index \p I.
static size_t behindList(StringRef Text, ArrayRef<PtxToken> Tokens, size_t I) {
  while (I < Tokens.size() && !isPunct(Text, Tokens[I], ')'))
    ++I;
  return std::min(I + 1, Tokens.size());
}

/// Returns the target of `call{.uni} (result), target, (arguments), ...`: the name of a function,
/// or the register that holds its address. Null if the instruction has no target.
static const PtxToken *callTarget(StringRef Text, ArrayRef<PtxToken> Call) {
  size_t I = 1;
  while (I < Call.size() && Call[I].Kind == PtxToken::Directive)
    ++I;
  if (I < Call.size() && isPunct(Text, Call[I], '('))
    I = behindList(Text, Call, I);
  if (I < Call.size() && isPunct(Text, Call[I], ','))
    ++I;
  return I < Call.size() && Call[I].Kind == PtxToken::Word ? &Call[I] : nullptr;
}

void carve::scanBody(StringRef Text, ArrayRef<PtxToken> Body, const ScannedPtx &Module,
                     PtxItem &Item) {
  StringSet<> Called;
  forEachInstruction(Text, Body, [&](ArrayRef<PtxToken> Instruction) {
    StringRef Opcode = textOf(Text, Instruction[0]);
    if (Opcode == "setmaxnreg")
      Item.SetsMaxNReg = true;
    Item.Loads.ByL2Only |= loadModifier(Text, Instruction, LoadCaching::L2Only).has_value();
    Item.Loads.ByHints |= loadModifier(Text, Instruction, LoadCaching::EvictFirst).has_value();
    if (Opcode != "call")
      return;
    const PtxToken *Target = callTarget(Text, Instruction);
    StringRef Name = Target ? textOf(Text, *Target) : "";
    const PtxItem *Callee = Module.find(Name);
    // The name of a register need not start with `%`, so a name that is not a function's is taken
    // for a register with an address.
    if (!Callee || Callee->Kind == PtxItem::Variable)
      Item.CallsIndirectly = true;
    else if (Called.insert(Name).second)
      Item.Calls.push_back(Name.str());
  });
  for (const PtxToken &T : Body) {
    if (T.Kind != PtxToken::Word || T.Role != PtxToken::Operand || Text[T.Begin] == '%')
      continue;
    const PtxItem *Named = Module.find(textOf(Text, T));
    Item.MentionsDynamicSmem |= Named && Named->DynamicSmem;
  }
}
