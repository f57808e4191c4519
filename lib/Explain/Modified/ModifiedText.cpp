#include "Explain/Modified/ModifiedText.h"

#include "Ptx/KernelHazards.h"
#include "Ptx/ModuleEditor.h"
#include "Ptx/TextEdits.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <re2/re2.h>

using namespace carve;
using namespace llvm;

// A grid has at most 65535 blocks in z, so the top bit of %nctaid.z is never set. ptxas takes the
// value from the constant bank and does not know its bounds (checked for sm_75 to sm_120 of
// CUDA 13.0). So `(accumulator | 1 << 31) == %nctaid.z` never holds, but has to be computed. ptxas
// cannot compute the operands of the store only after the condition, because the condition needs
// them, too. The store is a reduction, because no kernel that is modified has reductions; its own
// loads and stores can still be counted. The address of the reduction is never used.
static constexpr StringLiteral Declarations =
    "\n\t.reg .b16 %carve_h;\n\t.reg .b32 %carve_acc, %carve_t, %carve_u;\n"
    "\t.reg .b64 %carve_d;\n"
    "\t.reg .pred %carve_q;\n\tmov.b32 %carve_acc, 0;";
static constexpr StringLiteral Guard =
    "or.b32 %carve_t, %carve_acc, 0x80000000;\n\tmov.u32 %carve_u, %nctaid.z;\n"
    "\tsetp.eq.u32 %carve_q, %carve_t, %carve_u;\n\tmov.b64 %carve_d, {%carve_acc, %carve_t};\n"
    "\t@%carve_q red.global.or.b32 [%carve_d], %carve_acc;\n\t";

std::string carve::predicateOf(const PtxInstruction &I) {
  if (I.Predicate.empty())
    return "";
  return (I.PredicateNegated ? "@!" : "@") + I.Predicate + " ";
}

ModifiedText::ModifiedText(StringRef Definition, const RegisterFlow &Flow)
    : Definition(Definition), Flow(Flow), Changes(Flow.code().size()) {}

/// Addition is used because a value that is folded twice must not vanish, as it would with
/// exclusive or. Two additions also make only one machine instruction.
std::string ModifiedText::foldWord(StringRef Name, StringRef Predicate) {
  return (Predicate + "add.u32 %carve_acc, %carve_acc, " + Name + ";\n\t").str();
}

std::string ModifiedText::fold(unsigned Register, StringRef Predicate) const {
  const PtxRegister &R = Flow.registers()[Register];
  switch (R.bits()) {
  case 1:
    return "selp.b32 %carve_t, 1, 0, " + R.Name + ";\n\t" + foldWord("%carve_t", Predicate);
  case 16:
    return "mov.b32 %carve_t, {" + R.Name + ", " + R.Name + "};\n\t" +
           foldWord("%carve_t", Predicate);
  case 32:
    return "mov.b32 %carve_t, " + R.Name + ";\n\t" + foldWord("%carve_t", Predicate);
  default:
    return "mov.b64 {%carve_t, %carve_u}, " + R.Name + ";\n\t" + foldWord("%carve_t", Predicate) +
           foldWord("%carve_u", Predicate);
  }
}

std::string ModifiedText::storedInstead(const PtxInstruction &Store) const {
  if (Store.Operands.size() < 2 || !Store.Operands[0].IsAddress)
    return "";
  size_t Elements = Store.Operands[1].Names.size();
  unsigned Bytes = Elements ? Store.accessBytes() / Elements : 0;
  StringRef Text = Definition.slice(Store.Begin, Store.End);
  size_t AddressEnd = Text.find(']');
  if (Bytes == 0 || Bytes > 8 || AddressEnd == StringRef::npos)
    return "";
  std::vector<std::string> Value(Elements, Bytes == 8 ? "%carve_d" : "%carve_acc");
  std::string New = Bytes == 8 ? "mov.b64 %carve_d, {%carve_acc, %carve_acc};\n\t" : "";
  New += Text.take_front(AddressEnd + 1).str() + ", ";
  New += Elements == 1 ? Value[0] : "{" + join(Value, ", ") + "}";
  for (const PtxOperand &Policy : ArrayRef(Store.Operands).drop_front(2))
    New += ", " + Policy.name().str();
  return New + ";";
}

void ModifiedText::guardExits(const std::vector<std::string> &Kept) {
  std::string Text = Guard.str();
  for (const std::string &Variable : Kept)
    Text += "@%carve_q st.shared.u8 [" + Variable + "], %carve_acc;\n\t";
  for (auto [At, I] : enumerate(Flow.code()))
    if ((I.Opcode == "ret" || I.Opcode == "exit") && Flow.flow().Reachable[Flow.blockOf(At)])
      before(At, Text);
}

Expected<std::string> ModifiedText::finish(StringRef Name, StringRef NewName) const {
  TextEdits E;
  for (auto [At, C] : enumerate(Changes)) {
    const PtxInstruction &I = Flow.code()[At];
    if (!C.Removed && C.Before.empty() && C.After.empty())
      continue;
    StringRef Own = C.Removed ? "" : Definition.slice(I.Begin, I.End);
    E.replace(I.Begin, I.End, C.Before + Own.str() + (C.After.empty() ? "" : "\n\t" + C.After));
  }
  auto Tokens = lexPtx(Definition);
  if (!Tokens)
    return Tokens.takeError();
  auto Open = find_if(*Tokens, [&](const PtxToken &T) { return isPunct(Definition, T, '{'); });
  E.insert(Open->End, Declarations.str() + Start);
  return renamedFunction(E.apply(Definition), Name, NewName);
}

/// Returns why the kernel's effects are not known well enough, or an empty text.
static std::string whyNotRead(const PtxModule &M, const ReadKernel &K) {
  bool Moves = false;
  std::vector<std::string> Shared = sharedVariables(M.text(), K.Definition);
  for (auto [At, S] : enumerate(K.Flow.steps())) {
    const PtxInstruction &I = K.Flow.code()[At];
    if (S.Action == PtxAction::Other)
      return "it uses `" + I.Opcode + join(I.Modifiers, "") + "`";
    if (S.Action == PtxAction::Call && K.Callees.TouchMemory)
      return "it calls functions that do more than compute";
    if (S.Action == PtxAction::Atomic && S.Space == PtxSpace::Global)
      return "it uses atomic operations on global memory";
    Moves |= S.Space == PtxSpace::Global || S.Space == PtxSpace::Texture;
    auto Address = find_if(I.Operands, [](const PtxOperand &O) { return O.IsAddress; });
    bool Generic = S.Space == PtxSpace::Global && S.Action != PtxAction::Copy &&
                   !I.has(".global") && Address != I.Operands.end();
    for (const std::string &Root : Generic ? K.Flow.rootsOf(*Address) : std::set<std::string>())
      if (StringRef(Root).starts_with("__local_depot") || is_contained(Shared, Root))
        return "it reaches shared or local memory by generic addresses";
  }
  return Moves ? "" : "it neither loads from global memory nor stores there";
}

Expected<ReadKernel> carve::readForModification(const PtxModule &M, StringRef Name) {
  const PtxEntry *Entry = M.find(Name);
  if (!Entry)
    return malformed("PTX: no entry named " + Name);
  auto Flow = RegisterFlow::read(M.definitionOf(Name));
  if (!Flow)
    return Flow.takeError();
  auto Callees = calleeTraits(M, *Entry);
  if (!Callees)
    return Callees.takeError();
  auto Hazards = M.kernelHazards(Name);
  if (!Hazards)
    return Hazards.takeError();
  ReadKernel K{M.definitionOf(Name), std::move(*Flow), *Callees, ""};
  K.WhyNot = Hazards->SpinWait ? "it waits for other blocks in a loop" : whyNotRead(M, K);
  return K;
}

std::vector<std::string> carve::sharedVariables(StringRef ModuleText, StringRef Definition) {
  // Matches `.shared .align 4 .b8 _ZZ6matmulE2As[1024];`, in the body or at module scope.
  static const re2::RE2 Declared(
      R"(\n\s*(?:\.visible\s+|\.weak\s+)?\.shared\s+[^;{}]*?([A-Za-z_$][\w$]*)\s*(?:\[[^;]*)?;)");
  static const re2::RE2 Word(R"(([A-Za-z_$][\w$]*))");
  StringSet<> Names;
  std::string Name;
  re2::StringPiece Rest(ModuleText.data(), ModuleText.size());
  while (re2::RE2::FindAndConsume(&Rest, Declared, &Name))
    Names.insert(Name);
  std::vector<std::string> Used;
  re2::StringPiece Body(Definition.data(), Definition.size());
  while (!Names.empty() && re2::RE2::FindAndConsume(&Body, Word, &Name))
    if (Names.contains(Name) && !is_contained(Used, Name))
      Used.push_back(Name);
  return Used;
}
