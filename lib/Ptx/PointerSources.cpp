#include "Ptx/PointerSources.h"

#include "Ptx/PtxInstructions.h"
#include "Ptx/PtxModule.h"
#include "Ptx/RegisterOrigins.h"
#include "Ptx/SpinLoops.h"
#include "Support/Error.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace carve;
using namespace llvm;

namespace {

/// Opcodes that rule a kernel out, whatever their operands are.
constexpr struct {
  StringLiteral Opcode, Reason;
} Excluded[] = {{"membar", "memory-fence"},
                {"fence", "memory-fence"},
                {"griddepcontrol", "programmatic-launch"},
                {"nanosleep", "waits"},
                {"call", "calls-function"},
                {"suld", "surface-access"},
                {"sust", "surface-access"},
                {"sured", "surface-access"},
                {"sullq", "surface-access"},
                {"tex", "texture-access"},
                {"tld4", "texture-access"},
                {"cp", "asynchronous-copy"},
                {"multimem", "multimem"},
                {"discard", "cache-control"},
                {"applypriority", "cache-control"},
                {"alloca", "stack-allocation"},
                {"stacksave", "stack-allocation"},
                {"stackrestore", "stack-allocation"},
                {"tcgen05", "unknown-access"}};

constexpr StringLiteral Accesses[] = {"ld", "ldu", "st", "atom", "red", "wmma"};

/// Opcodes with an operand in brackets that is no address of global memory, or whose access has no
/// effect.
constexpr StringLiteral OtherBrackets[] = {"txq",      "suq",      "prefetch", "prefetchu",
                                           "ldmatrix", "stmatrix", "mbarrier"};

/// Returns why an address with the origins \p O has no single word; null if it has, or if it is
/// that of a variable.
const char *whyUnknown(const ValueOrigin &O) {
  if (O.Flags & ValueOrigin::Loaded)
    return "was loaded from memory or is put together";
  if (O.Flags & ValueOrigin::Mangled)
    return "is computed from that of a variable in a way that is not followed";
  if (O.Flags & ValueOrigin::Sometimes)
    return "comes from a parameter or a variable only on some ways";
  if (!O.hasAddress())
    return "comes from no parameter and no variable";
  return O.Bases.size() + bool(O.Flags & ValueOrigin::Variable) > 1
             ? "comes from several parameters or variables"
             : nullptr;
}

/// Returns why \p I rules a kernel out, or an empty text if it does not. \p InGlobal says whether
/// it accesses global memory or has a generic address.
StringRef reasonAgainst(const PtxInstruction &I, bool InGlobal) {
  for (const auto &Rule : Excluded)
    if (Rule.Opcode == I.Opcode)
      return Rule.Reason;
  auto Has = [&](ArrayRef<StringRef> Some) {
    return any_of(Some, [&](StringRef M) { return I.has(M); });
  };
  if (Has({".async", ".bulk"}))
    return "asynchronous-copy";
  if (Has({".shared::cluster"}))
    return "cluster-memory";
  // Shared memory orders what is done in global memory, too.
  if (Has({".acquire", ".release", ".acq_rel", ".sc"}))
    return "ordered-access";
  if (!InGlobal)
    return "";
  if (Has({".volatile", ".mmio", ".sys", ".cv", ".wt"}) ||
      (I.has(".relaxed") && (I.Opcode == "ld" || I.Opcode == "st")))
    return "ordered-access";
  if (I.Opcode == "atom" && Has({".cas", ".exch"}))
    return "lock";
  bool IsKnown = is_contained(Accesses, I.Opcode) || is_contained(OtherBrackets, I.Opcode);
  return I.Opcode == "mbarrier" || !IsKnown ? "unknown-access" : "";
}

/// Whether \p I has an address that may be one of global memory.
bool isInGlobal(const PtxInstruction &I) {
  return addressOf(I) && none_of(I.Modifiers, [](StringRef M) {
           return M == ".shared" || M == ".shared::cta" || M == ".local" || M == ".const" ||
                  M.starts_with(".param");
         });
}

bool isBarrier(const PtxInstruction &I) {
  return I.Opcode == "bar" || I.Opcode == "barrier" || I.Opcode == "mbarrier";
}

/// The instructions of an entry, by their index in PtxFunction::Code.
struct BarrierSides {
  BitVector Before; ///< A barrier can be reached from these.
  BitVector After;  ///< These can be reached from a barrier.
};

/// Whether two scopes of \p Body have a label with the same name, as inlined copies of inline
/// assembly may have. PtxFunction::Flow does not tell them apart.
bool repeatsLabel(StringRef Text, ArrayRef<PtxToken> Body) {
  StringSet<> Labels;
  return any_of(Body, [&](const PtxToken &T) {
    return T.Role == PtxToken::Label && !Labels.insert(textOf(Text, T)).second;
  });
}

/// Returns the blocks that can be reached from those in \p Pending over one or more of \p Edges.
BitVector reachedFrom(std::vector<unsigned> Pending, ArrayRef<std::vector<unsigned>> Edges) {
  BitVector Reached(Edges.size());
  while (!Pending.empty()) {
    unsigned Block = Pending.back();
    Pending.pop_back();
    for (unsigned Next : Edges[Block])
      if (!Reached.test(Next)) {
        Reached.set(Next);
        Pending.push_back(Next);
      }
  }
  return Reached;
}

/// Finds the sides of all barriers in \p F. A barrier with a predicate counts as one that always
/// runs. If \p IsFlowKnown is false, or if the control flow does not lead to some code, then all
/// instructions of an entry with a barrier are on both sides.
BarrierSides sidesOfBarriers(const PtxFunction &F, bool IsFlowKnown) {
  size_t Count = F.Code.size(), Blocks = F.Flow.Blocks.size();
  BarrierSides Sides = {BitVector(Count), BitVector(Count)};
  std::vector<std::vector<unsigned>> Successors(Blocks), Predecessors(Blocks);
  std::vector<unsigned> WithBarrier;
  for (auto [Number, B] : enumerate(F.Flow.Blocks)) {
    if (any_of(ArrayRef(F.Code).slice(B.First, B.Last - B.First), isBarrier))
      WithBarrier.push_back(Number);
    Successors[Number] = B.Successors;
    for (unsigned Next : B.Successors)
      Predecessors[Next].push_back(Number);
    // A lone `ret` may follow an endless loop or a `trap`, and does nothing.
    IsFlowKnown &= F.Flow.Reachable[Number] || B.EndsAtOnce;
  }
  if (!IsFlowKnown && !WithBarrier.empty())
    return {BitVector(Count, true), BitVector(Count, true)};
  BitVector Below = reachedFrom(WithBarrier, Successors);
  BitVector Above = reachedFrom(WithBarrier, Predecessors);
  for (auto [Number, B] : enumerate(F.Flow.Blocks)) {
    bool IsAfter = Below[Number], IsBefore = Above[Number];
    for (size_t I = B.First; I != B.Last; ++I) {
      Sides.After[I] = IsAfter;
      IsAfter |= isBarrier(F.Code[I]);
    }
    for (size_t I = B.Last; I-- != B.First;) {
      Sides.Before[I] = IsBefore;
      IsBefore |= isBarrier(F.Code[I]);
    }
  }
  return Sides;
}

/// The accesses by one word, as far as they are on a side of a barrier.
struct WordAccesses {
  bool Before = false, After = false; ///< There is one on this side.
  bool Written = false;               ///< One of them is a write.
};

bool isWrite(const PtxInstruction &I) {
  return is_contained({"st", "atom", "red"}, I.Opcode) || I.has(".store");
}

/// Collects the accesses of an entry.
class AccessCheck {
public:
  AccessCheck(StringRef Text, const PtxFunction &F, const RegisterOrigins &R, BarrierSides Sides)
      : Text(Text), F(F), R(R), Sides(std::move(Sides)) {}
  Expected<std::vector<PointerSource>> run();

private:
  std::string quoted(const PtxInstruction &I) const;
  Error add(size_t Index);
  Error checkPlaces() const;

  StringRef Text;
  const PtxFunction &F;
  const RegisterOrigins &R;
  BarrierSides Sides;
  std::map<PointerPlace, WordAccesses> Places;
  std::map<PointerPlace, std::string> Distances; ///< With an access that has one.
};

std::string AccessCheck::quoted(const PtxInstruction &I) const {
  SmallVector<StringRef> Words;
  SplitString(Text.slice(I.Begin, I.End).rtrim(';'), Words);
  return "`" + join(Words, " ") + "`";
}

Error AccessCheck::add(size_t Index) {
  const PtxInstruction &I = F.Code[Index];
  bool InGlobal = isInGlobal(I);
  if (StringRef Reason = reasonAgainst(I, InGlobal); !Reason.empty())
    return unsupported(Reason, quoted(I));
  if (!InGlobal || !is_contained(Accesses, I.Opcode))
    return Error::success();
  const PtxOperand &Address = *addressOf(I);
  ValueOrigin O = Address.Names.size() == 1 ? R.originOf(Address.name()) : ValueOrigin();
  if (const char *Why = whyUnknown(O))
    return unsupported("pointer-sources", "the address in " + quoted(I) + " " + Why);
  for (const PointerPlace &Term : O.Terms)
    Distances.try_emplace(Term, quoted(I));
  for (const PointerPlace &Base : O.Bases) {
    WordAccesses &A = Places[Base];
    A.Before |= Sides.Before[Index];
    A.After |= Sides.After[Index];
    A.Written |= isWrite(I) && (Sides.Before[Index] || Sides.After[Index]);
  }
  return Error::success();
}

Error AccessCheck::checkPlaces() const {
  for (const auto &[P, Access] : Distances)
    if (Places.contains(P))
      return unsupported("pointer-sources", "the address in " + Access +
                                                " has a distance from parameter " +
                                                Twine(P.Parameter) + "+" + Twine(P.Offset) +
                                                ", which is an address elsewhere");
  return Error::success();
}

Expected<std::vector<PointerSource>> AccessCheck::run() {
  for (size_t Index = 0; Index < F.Code.size(); ++Index)
    if (Error E = add(Index))
      return E;
  if (Error E = checkPlaces())
    return E;
  std::vector<PointerSource> All;
  for (const auto &[P, A] : Places)
    All.push_back({P, !(A.Before && A.After && A.Written)});
  return All;
}

} // namespace

Expected<std::vector<PointerSource>> carve::pointerSources(StringRef Definition, StringRef Name) {
  auto F = readPtxFunction(Definition);
  if (!F)
    return F.takeError();
  auto Tokens = lexPtx(Definition);
  if (!Tokens)
    return Tokens.takeError();
  ArrayRef<PtxToken> Body = bodyOf(Definition, *Tokens);
  if (hasSpinLoop(Definition, Body))
    return unsupported("spin-loop", "a loop reads one address until its value changes");
  RegisterOrigins R(Definition, Body, Name, *F);
  BarrierSides Sides = sidesOfBarriers(*F, !repeatsLabel(Definition, Body));
  return AccessCheck(Definition, *F, R, std::move(Sides)).run();
}

std::vector<unsigned> carve::restrictParameters(ArrayRef<PointerSource> Sources) {
  std::vector<unsigned> Parameters;
  for (const PointerSource &S : Sources)
    if (S.MayBeRestrict && S.Place.Offset == 0)
      Parameters.push_back(S.Place.Parameter);
  return Parameters;
}

Expected<std::vector<PointerSource>> PtxModule::pointerSources(StringRef Name) const {
  const PtxEntry *Entry = find(Name);
  if (!Entry)
    return malformed("PTX: no entry named " + Name);
  if (!Entry->Callees.empty() || Entry->UnknownStack)
    return unsupported("calls-function", Entry->Callees.empty() ? "" : Entry->Callees.front());
  return carve::pointerSources(definitionOf(Name), Name);
}
