#include "Ptx/SpinLoops.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace carve;
using namespace llvm;

namespace {

/// The most instructions of a loop that is examined. A loop that waits is short; a loop that works
/// may be long.
constexpr size_t LongestLoop = 64;

/// One instruction and the names in it.
struct Step {
  StringRef Opcode;
  SmallVector<StringRef, 3> Modifiers; ///< Such as `.global`, `.acquire`.
  StringRef Predicate; ///< The register of `@%p1`; empty if the instruction always runs.
  SmallVector<StringRef, 2> Results, Sources;
  StringRef Target; ///< The label, if this is a branch.

  bool has(StringRef Modifier) const { return is_contained(Modifiers, Modifier); }
};

class SpinFinder {
public:
  SpinFinder(StringRef Text, ArrayRef<PtxToken> Body) : Text(Text), Body(Body) { collect(); }
  bool run() const;

private:
  void collect();
  Step read(size_t I) const;
  bool spins(ArrayRef<Step> Loop) const;

  StringRef Text;
  ArrayRef<PtxToken> Body;
  std::vector<Step> Steps;
  StringMap<size_t> Labels; ///< The index of the step after each label.
};

/// Reads the instruction whose opcode is token \p I.
Step SpinFinder::read(size_t I) const {
  Step S;
  S.Opcode = textOf(Text, Body[I]);
  size_t P = I;
  if (P >= 2 && Body[P - 1].Kind == PtxToken::Word &&
      (isPunct(Text, Body[P - 2], '@') || isPunct(Text, Body[P - 2], '!')))
    S.Predicate = textOf(Text, Body[P - 1]);
  for (++I; I < Body.size() && Body[I].Kind == PtxToken::Directive; ++I)
    S.Modifiers.push_back(textOf(Text, Body[I]));
  bool Result = true;
  size_t Depth = 0; // The nesting of `{%r1, %r2}`, whose commas do not separate operands.
  for (; I < Body.size() && !isPunct(Text, Body[I], ';'); ++I) {
    if (Body[I].Kind == PtxToken::Word)
      (Result ? S.Results : S.Sources).push_back(textOf(Text, Body[I]));
    Depth += isPunct(Text, Body[I], '{');
    Depth -= Depth && isPunct(Text, Body[I], '}');
    Result &= Depth || !isPunct(Text, Body[I], ',');
  }
  if (S.Opcode == "bra" && !S.Results.empty())
    S.Target = S.Results.front();
  if (S.Opcode == "bra" || S.Opcode == "st" || S.Opcode == "red")
    S.Results.clear();
  return S;
}

void SpinFinder::collect() {
  for (size_t I = 0; I < Body.size(); ++I) {
    if (Body[I].Kind != PtxToken::Word)
      continue;
    if (Body[I].Role == PtxToken::Label)
      Labels[textOf(Text, Body[I])] = Steps.size();
    else if (Body[I].Role == PtxToken::Opcode)
      Steps.push_back(read(I));
  }
}

bool writesOrCalls(const Step &S) {
  return is_contained({"st", "red", "sust", "sured", "cp", "call", "multimem"}, S.Opcode);
}

/// Whether \p S reads a value that others may change, at an address that does not depend on the
/// names in \p Changing.
bool polls(const Step &S, const StringSet<> &Changing) {
  bool Fresh = S.has(".volatile") || S.has(".relaxed") || S.has(".acquire") || S.has(".mmio");
  if ((S.Opcode != "ld" || !Fresh) && S.Opcode != "atom")
    return false;
  if (any_of(S.Modifiers, [](StringRef M) { return M.starts_with(".shared"); }))
    return false;
  return none_of(S.Sources, [&](StringRef Name) { return Changing.contains(Name); });
}

bool SpinFinder::spins(ArrayRef<Step> Loop) const {
  StringSet<> Changing, Read;
  for (const Step &S : Loop) {
    if (writesOrCalls(S))
      return false;
    // nvcc assigns a register the same constant again in each trip, which is not a change.
    if (S.Opcode != "mov" || !S.Sources.empty())
      for (StringRef Name : S.Results)
        Changing.insert(Name);
  }
  for (const Step &S : Loop)
    if (polls(S, Changing))
      for (StringRef Name : S.Results)
        Read.insert(Name);
  // Adds what is computed from a value that was read. One pass in program order is enough for a
  // loop.
  for (const Step &S : Loop)
    if (any_of(S.Sources, [&](StringRef Name) { return Read.contains(Name); }))
      for (StringRef Name : S.Results)
        Read.insert(Name);
  return any_of(Loop, [&](const Step &S) {
    return (S.Opcode == "bra" || S.Opcode == "exit" || S.Opcode == "ret") &&
           Read.contains(S.Predicate);
  });
}

bool SpinFinder::run() const {
  for (size_t Branch = 0; Branch < Steps.size(); ++Branch) {
    auto Label = Labels.find(Steps[Branch].Target);
    if (Steps[Branch].Target.empty() || Label == Labels.end() || Label->second > Branch)
      continue;
    size_t Length = Branch + 1 - Label->second;
    if (Length <= LongestLoop && spins(ArrayRef(Steps).slice(Label->second, Length)))
      return true;
  }
  return false;
}

} // namespace

bool carve::hasSpinLoop(StringRef Text, ArrayRef<PtxToken> Body) {
  return SpinFinder(Text, Body).run();
}
