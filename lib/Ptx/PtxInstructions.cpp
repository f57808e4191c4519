#include "Ptx/PtxInstructions.h"

#include "Ptx/PtxLexer.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace carve;
using namespace llvm;

bool PtxInstruction::hasResult() const {
  static constexpr StringLiteral Without[] = {
      "st",        "red",     "bra",       "brx",      "ret",     "exit",           "bar",
      "barrier",   "call",    "sust",      "prefetch", "membar",  "fence",          "cp",
      "prefetchu", "trap",    "nanosleep", "wgmma",    "tcgen05", "griddepcontrol", "brkpt",
      "pmevent",   "discard", "multimem"};
  // `barrier.red` and `bar.red` do have a result.
  if ((Opcode == "bar" || Opcode == "barrier") && has(".red"))
    return !Operands.empty();
  return !is_contained(Without, Opcode) && !Operands.empty() && !Operands.front().IsAddress;
}

unsigned PtxInstruction::accessBytes() const {
  unsigned Vector = 1, Bits = 0;
  for (StringRef M : Modifiers) {
    StringRef Digits = M.drop_front().ltrim("bsuf");
    unsigned Number = 0;
    if (M.size() > 2 && M[1] == 'v' && !M.drop_front(2).getAsInteger(10, Number))
      Vector = Number;
    else if (M == ".f16x2" || M == ".bf16x2")
      Bits = 32;
    else if (M == ".bf16")
      Bits = 16;
    else if (M.size() - Digits.size() == 2 && !Digits.getAsInteger(10, Number))
      Bits = Number;
  }
  return Vector * Bits / 8;
}

StringRef carve::calledName(const PtxInstruction &Call) {
  // In `call (result), name, (arguments)` the reader skips parenthesised lists, so the name is the
  // first operand.
  return Call.Operands.empty() ? "" : Call.Operands.front().name();
}

namespace {

class Reader {
public:
  explicit Reader(StringRef Text) : Text(Text) {}
  Expected<PtxFunction> run();

private:
  Error readBody(ArrayRef<PtxToken> Body);
  size_t readInstruction(ArrayRef<PtxToken> Body, size_t I);
  void readOperand(ArrayRef<PtxToken> Tokens, PtxOperand &O) const;
  size_t readTargets(ArrayRef<PtxToken> Body, size_t I, StringRef Table);
  Expected<std::vector<FlowBlock>> makeBlocks();
  Error addTargets(const PtxInstruction &I, FlowBlock &B, const std::vector<unsigned> &BlockAt);

  StringRef Text;
  PtxFunction F;
  unsigned Line = 0;
  StringMap<size_t> Labels; ///< The index of the instruction after each label.
  StringMap<std::vector<std::string>> Tables;
};

/// Reads the tokens of one operand, including the commas inside of its braces.
void Reader::readOperand(ArrayRef<PtxToken> Tokens, PtxOperand &O) const {
  bool Negative = false;
  for (size_t I = 0; I < Tokens.size(); ++I) {
    const PtxToken &T = Tokens[I];
    StringRef Word = textOf(Text, T);
    O.IsAddress |= isPunct(Text, T, '[');
    if (T.Kind == PtxToken::Punct) {
      Negative = Word == "-" || (Negative && Word != ",");
      continue;
    }
    int64_t Number = 0;
    bool IsNumber = T.Kind == PtxToken::Number && !Word.getAsInteger(0, Number);
    if (O.IsAddress && IsNumber && !O.Names.empty())
      O.OffsetBytes += Negative ? -Number : Number;
    else if (T.Kind == PtxToken::Directive && !O.Names.empty() && I && Tokens[I - 1].End == T.Begin)
      O.Names.back() += Word; // `%tid.x`
    else if (T.Kind != PtxToken::Directive)
      O.Names.push_back((Negative ? "-" : "") + Word.str());
    Negative = false;
  }
}

/// Reads the instruction whose opcode is at index \p I. Returns the index of the `;` after it.
size_t Reader::readInstruction(ArrayRef<PtxToken> Body, size_t I) {
  PtxInstruction New;
  New.Opcode = textOf(Text, Body[I]).str();
  New.Line = Line;
  New.Begin = Body[I].Begin;
  if (I >= 2 && Body[I - 1].Kind == PtxToken::Word &&
      (isPunct(Text, Body[I - 2], '@') || isPunct(Text, Body[I - 2], '!'))) {
    New.Predicate = textOf(Text, Body[I - 1]).str();
    New.PredicateNegated = isPunct(Text, Body[I - 2], '!');
    New.Begin = Body[I - (New.PredicateNegated ? 3 : 2)].Begin;
  }
  for (++I; I < Body.size(); ++I) {
    bool Continues = I + 2 < Body.size() && isPunct(Text, Body[I], ':') &&
                     isPunct(Text, Body[I + 1], ':') && !New.Modifiers.empty();
    if (Continues) // `.shared::cta`, `.L2::128B`
      New.Modifiers.back() += ("::" + textOf(Text, Body[I += 2])).str();
    else if (Body[I].Kind == PtxToken::Directive)
      New.Modifiers.push_back(textOf(Text, Body[I]).str());
    else
      break;
  }
  unsigned Depth = 0;
  bool Parenthesised = false;
  size_t First = I;
  auto Finish = [&](size_t End) {
    if (End > First && !Parenthesised) {
      PtxOperand O;
      readOperand(Body.slice(First, End - First), O);
      New.Operands.push_back(std::move(O));
    }
    First = End + 1;
    Parenthesised = false;
  };
  for (; I < Body.size() && !isPunct(Text, Body[I], ';'); ++I) {
    Parenthesised |= isPunct(Text, Body[I], '(');
    if (isPunct(Text, Body[I], '{') || isPunct(Text, Body[I], '(') || isPunct(Text, Body[I], '['))
      ++Depth;
    else if (isPunct(Text, Body[I], '}') || isPunct(Text, Body[I], ')') ||
             isPunct(Text, Body[I], ']'))
      Depth -= Depth != 0;
    else if (isPunct(Text, Body[I], ',') && !Depth)
      Finish(I);
  }
  Finish(I);
  New.End = I < Body.size() ? Body[I].End : Text.size();
  F.Code.push_back(std::move(New));
  return I;
}

/// Reads the list that starts with `.branchtargets` at index \p I. Returns the index of the `;`
/// after it.
size_t Reader::readTargets(ArrayRef<PtxToken> Body, size_t I, StringRef Table) {
  for (; I < Body.size() && !isPunct(Text, Body[I], ';'); ++I)
    if (Body[I].Kind == PtxToken::Word)
      Tables[Table].push_back(textOf(Text, Body[I]).str());
  return I;
}

Error Reader::readBody(ArrayRef<PtxToken> Body) {
  for (size_t I = 0; I < Body.size(); ++I) {
    const PtxToken &T = Body[I];
    StringRef Word = textOf(Text, T);
    if (T.Kind == PtxToken::Line && Word.consume_front(".loc")) {
      // The form is `.loc file line column`.
      SmallVector<StringRef, 4> Parts;
      Word.split(Parts, ' ', -1, /*KeepEmpty=*/false);
      SmallVector<StringRef, 4> Fields;
      for (StringRef Part : Parts)
        Part.split(Fields, '\t', -1, false);
      if (Fields.size() < 2 || Fields[1].getAsInteger(10, Line))
        return malformed("PTX: `.loc" + Word + "`, expected file, line and column");
    } else if (T.Kind == PtxToken::Word && T.Role == PtxToken::Label) {
      Labels[Word] = F.Code.size();
      if (I + 2 < Body.size() && textOf(Text, Body[I + 2]) == ".branchtargets")
        I = readTargets(Body, I + 2, Word);
    } else if (T.Kind == PtxToken::Word && T.Role == PtxToken::Opcode) {
      I = readInstruction(Body, I);
    }
  }
  return Error::success();
}

bool endsFunction(const PtxInstruction &I) {
  return I.Opcode == "ret" || I.Opcode == "exit" || I.Opcode == "trap";
}

Error Reader::addTargets(const PtxInstruction &I, FlowBlock &B,
                         const std::vector<unsigned> &BlockAt) {
  std::vector<std::string> Targets;
  if (I.Opcode == "brx" && I.Operands.size() > 1)
    Targets = Tables.lookup(I.Operands[1].name());
  else if (!I.Operands.empty())
    Targets.push_back(I.Operands.front().name().str());
  for (const std::string &Target : Targets) {
    auto Label = Labels.find(Target);
    if (Label == Labels.end())
      return malformed("PTX: a branch to " + Target + ", which is not a label of its function");
    unsigned Block = BlockAt[Label->second];
    if (!is_contained(B.Successors, Block))
      B.Successors.push_back(Block);
  }
  return Error::success();
}

Expected<std::vector<FlowBlock>> Reader::makeBlocks() {
  std::set<size_t> Starts = {0, F.Code.size()};
  for (const auto &Label : Labels)
    Starts.insert(Label.second);
  auto IsBranch = [](const PtxInstruction &I) { return I.Opcode == "bra" || I.Opcode == "brx"; };
  for (auto [At, I] : enumerate(F.Code))
    if (IsBranch(I) || endsFunction(I))
      Starts.insert(At + 1);
  // There may be a label after the last instruction. It starts an empty block that ends the
  // function.
  std::vector<FlowBlock> Blocks;
  std::vector<unsigned> BlockAt(F.Code.size() + 1);
  for (auto It = Starts.begin(); It != Starts.end(); ++It) {
    FlowBlock B;
    B.First = *It;
    B.Last = std::next(It) == Starts.end() ? *It : *std::next(It);
    BlockAt[B.First] = Blocks.size();
    Blocks.push_back(B);
  }
  for (auto [Index, B] : enumerate(Blocks)) {
    const PtxInstruction *Last = B.First == B.Last ? nullptr : &F.Code[B.Last - 1];
    B.EndsAtOnce = !Last || (B.Last - B.First == 1 && endsFunction(*Last));
    if (Last && IsBranch(*Last))
      if (Error E = addTargets(*Last, B, BlockAt))
        return E;
    bool FallsThrough = Last && ((!IsBranch(*Last) && !endsFunction(*Last)) ||
                                 (!Last->Predicate.empty() && Last->Opcode != "brx"));
    if (FallsThrough && !is_contained(B.Successors, unsigned(Index + 1)))
      B.Successors.push_back(Index + 1);
  }
  return Blocks;
}

Expected<PtxFunction> Reader::run() {
  auto Tokens = lexPtx(Text);
  if (!Tokens)
    return Tokens.takeError();
  auto Open = find_if(*Tokens, [&](const PtxToken &T) { return isPunct(Text, T, '{'); });
  if (Open == Tokens->end())
    return malformed("PTX: a function without a body");
  MutableArrayRef<PtxToken> Body =
      MutableArrayRef(*Tokens).drop_front(Open - Tokens->begin() + 1).drop_back();
  setRoles(Text, Body);
  if (Error E = readBody(Body))
    return E;
  auto Blocks = makeBlocks();
  if (!Blocks)
    return Blocks.takeError();
  F.Flow = analyseFlow(std::move(*Blocks));
  return std::move(F);
}

} // namespace

Expected<PtxFunction> carve::readPtxFunction(StringRef Definition) {
  return Reader(Definition).run();
}
