#include "Metrics/Counts/LoopTrips.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace carve;
using namespace llvm;

namespace {

/// The value of a register: a constant, or the sum of a constant and the value that \p Base had at
/// the start of the loop's trip.
struct Linear {
  std::string Base; ///< If empty, the value is a constant.
  int64_t Offset = 0;
};

/// Chains of definitions are short. A longer one does not belong to a loop's counter.
constexpr unsigned DeepestChain = 16;
/// The start of a counter is set in one place, or in one place for each way to the loop.
constexpr size_t MostDefinitions = 3;
/// Where many ways lead to a loop, the number of chains grows exponentially with their length. If
/// they have more registers than this, the counter's start is not known.
constexpr unsigned MostSteps = 1000;
/// A larger count is not worth computing, and the loop's trips then count as unknown.
constexpr int64_t MostTrips = 1 << 22;

class TripFinder {
public:
  explicit TripFinder(const PtxFunction &F);
  /// Sets the trips of \p Count and their source if the code tells them.
  void find(unsigned Loop, LoopCount &Count, double Assumed) const;

private:
  struct Exit {
    size_t Compare; ///< The index of the `setp`.
    bool StaysOnTrue;
    unsigned Block;
  };
  using MaybeLinear = std::optional<Linear>;
  /// A point in \p Block: before the instruction \p At, or after the last one.
  struct Place {
    unsigned Block;
    size_t At;
  };

  Place before(size_t At) const { return {BlockOf[At], At}; }
  bool inLoop(size_t At, unsigned Loop) const { return Flow.contains(Loop, BlockOf[At]); }
  SmallVector<size_t, 4> definitions(StringRef Name, unsigned Loop, bool Inside) const;
  MaybeLinear valueAt(StringRef Name, Place P, unsigned Loop, unsigned Depth = 0) const;
  MaybeLinear result(const PtxInstruction &I, size_t At, unsigned Loop, unsigned Depth) const;
  /// A search backwards for what a register has before \p Loop.
  struct Walk {
    unsigned Loop;
    unsigned Steps = 0; ///< Registers that were looked at.
  };
  /// Returns the constant that \p Name has before \p Loop.
  std::optional<int64_t> constantBefore(StringRef Name, unsigned Loop) const {
    Walk W{Loop};
    return constantBefore(Name, W, 0);
  }
  std::optional<int64_t> constantBefore(StringRef Name, Walk &W, unsigned Depth) const;
  std::optional<int64_t> constantOf(const PtxInstruction &I, Walk &W, unsigned Depth) const;
  /// Returns the mask of the `and` from which \p Name is computed by moves, changes of sign and
  /// added constants.
  std::optional<int64_t> maskBehind(StringRef Name, unsigned Loop, unsigned Depth = 0) const;
  /// Returns what is added to the thread's index to get the value of \p Name before \p Loop, the
  /// minimum over several ways. Returns nothing if the value depends on something else.
  std::optional<int64_t> startAtThread(StringRef Name, unsigned Loop) const {
    Walk W{Loop};
    std::optional<int64_t> Least = startAtThread(Name, W, 0);
    return W.Steps <= MostSteps ? Least : std::nullopt;
  }
  std::optional<int64_t> startAtThread(StringRef Name, Walk &W, unsigned Depth) const;
  std::optional<Exit> exitAt(unsigned Block, unsigned Loop) const;
  bool fromExit(const Exit &E, unsigned Loop, LoopCount &Count, double Assumed) const;
  bool fromMask(StringRef Variable, StringRef Bound, int64_t Step, unsigned Loop, LoopCount &Count,
                double Assumed) const;

  const PtxFunction &F;
  const ControlFlow &Flow;
  std::vector<unsigned> BlockOf;
  StringMap<SmallVector<size_t, 4>> Definitions;
};

TripFinder::TripFinder(const PtxFunction &F) : F(F), Flow(F.Flow), BlockOf(F.Code.size()) {
  for (auto [Block, B] : enumerate(Flow.Blocks))
    for (size_t At = B.First; At < B.Last; ++At) {
      BlockOf[At] = Block;
      if (F.Code[At].hasResult())
        for (const std::string &Name : F.Code[At].Operands.front().Names)
          Definitions[Name].push_back(At);
    }
}

/// Registers wrap around, so the sum is computed without signed overflow.
int64_t plus(int64_t A, int64_t B) {
  return static_cast<int64_t>(static_cast<uint64_t>(A) + static_cast<uint64_t>(B));
}

std::optional<int64_t> number(StringRef Name) {
  int64_t Value = 0;
  uint64_t Large = 0;
  if (!Name.getAsInteger(0, Value))
    return Value;
  return Name.getAsInteger(0, Large) ? std::nullopt : std::optional(static_cast<int64_t>(Large));
}

SmallVector<size_t, 4> TripFinder::definitions(StringRef Name, unsigned Loop, bool Inside) const {
  SmallVector<size_t, 4> Found;
  for (size_t At : Definitions.lookup(Name))
    if (Flow.Reachable[BlockOf[At]] && inLoop(At, Loop) == Inside)
      Found.push_back(At);
  return Found;
}

bool copies(const PtxInstruction &I) {
  bool Float = any_of(I.Modifiers, [](StringRef M) { return M == ".f32" || M == ".f64"; });
  return (I.Opcode == "mov" || I.Opcode == "cvt") && I.Operands.size() == 2 && !Float;
}

/// Returns the only register of an instruction that adds a constant, and that constant.
std::optional<std::pair<StringRef, int64_t>> addsConstant(const PtxInstruction &I) {
  if ((I.Opcode != "add" && I.Opcode != "sub") || I.Operands.size() != 3 || I.has(".f32") ||
      I.has(".f64"))
    return std::nullopt;
  if (auto C = number(I.Operands[2].name()))
    return std::pair(I.Operands[1].name(), I.Opcode == "sub" ? plus(~*C, 1) : *C);
  auto C = number(I.Operands[1].name());
  if (C && I.Opcode == "add")
    return std::pair(I.Operands[2].name(), *C);
  return std::nullopt;
}

TripFinder::MaybeLinear TripFinder::result(const PtxInstruction &I, size_t At, unsigned Loop,
                                           unsigned Depth) const {
  if (!I.Predicate.empty())
    return std::nullopt;
  if (copies(I))
    return valueAt(I.Operands[1].name(), before(At), Loop, Depth + 1);
  auto Sum = addsConstant(I);
  if (!Sum)
    return std::nullopt;
  MaybeLinear Value = valueAt(Sum->first, before(At), Loop, Depth + 1);
  if (Value)
    Value->Offset = plus(Value->Offset, Sum->second);
  return Value;
}

TripFinder::MaybeLinear TripFinder::valueAt(StringRef Name, Place P, unsigned Loop,
                                            unsigned Depth) const {
  if (auto C = number(Name))
    return Linear{"", *C};
  if (Depth > DeepestChain || !Name.starts_with("%"))
    return std::nullopt;
  SmallVector<size_t, 4> Inside = definitions(Name, Loop, true);
  if (Inside.empty()) {
    if (auto C = constantBefore(Name, Loop))
      return Linear{"", *C};
    return Linear{Name.str(), 0};
  }
  if (Inside.size() > 1 || Flow.LoopOf[BlockOf[Inside[0]]] != Loop)
    return std::nullopt;
  size_t At = Inside[0];
  unsigned Its = BlockOf[At], Here = P.Block;
  bool Before = Its == Here ? At < P.At : Flow.dominates(Its, Here);
  if (Before)
    return result(F.Code[At], At, Loop, Depth);
  bool After = Its == Here || Flow.dominates(Here, Its);
  return After ? MaybeLinear(Linear{Name.str(), 0}) : std::nullopt;
}

std::optional<int64_t> TripFinder::constantOf(const PtxInstruction &I, Walk &W,
                                              unsigned Depth) const {
  if (!I.Predicate.empty())
    return std::nullopt;
  if (copies(I))
    return constantBefore(I.Operands[1].name(), W, Depth + 1);
  auto Sum = addsConstant(I);
  auto Value = Sum ? constantBefore(Sum->first, W, Depth + 1) : std::nullopt;
  return Value ? std::optional(plus(*Value, Sum->second)) : std::nullopt;
}

std::optional<int64_t> TripFinder::constantBefore(StringRef Name, Walk &W, unsigned Depth) const {
  if (auto C = number(Name))
    return C;
  if (Depth > DeepestChain || ++W.Steps > MostSteps)
    return std::nullopt;
  std::optional<int64_t> Value;
  SmallVector<size_t, 4> Outside = definitions(Name, W.Loop, false);
  if (Outside.size() > MostDefinitions)
    return std::nullopt;
  for (size_t At : Outside) {
    auto Its = constantOf(F.Code[At], W, Depth);
    if (!Its || (Value && *Value != *Its))
      return std::nullopt;
    Value = Its;
  }
  return Value;
}

std::optional<int64_t> TripFinder::maskBehind(StringRef Name, unsigned Loop, unsigned Depth) const {
  SmallVector<size_t, 4> Outside = definitions(Name, Loop, false);
  if (Depth > DeepestChain || Outside.size() != 1)
    return std::nullopt;
  const PtxInstruction &I = F.Code[Outside[0]];
  if (I.Opcode == "and" && I.Operands.size() == 3)
    return number(I.Operands[2].name());
  if ((copies(I) || I.Opcode == "neg") && I.Operands.size() == 2)
    return maskBehind(I.Operands[1].name(), Loop, Depth + 1);
  if (auto Sum = addsConstant(I))
    return maskBehind(Sum->first, Loop, Depth + 1);
  // `N - (N & 3)` is `N & -4`.
  if (I.Opcode != "sub" || I.Operands.size() != 3)
    return std::nullopt;
  auto Rest = maskBehind(I.Operands[2].name(), Loop, Depth + 1);
  return Rest && *Rest > 0 ? std::optional(~*Rest) : std::nullopt;
}

std::optional<int64_t> TripFinder::startAtThread(StringRef Name, Walk &W, unsigned Depth) const {
  if (Name.starts_with("%tid.") || Name == "%laneid")
    return 0;
  if (Depth > DeepestChain || ++W.Steps > MostSteps)
    return std::nullopt;
  SmallVector<size_t, 4> Outside = definitions(Name, W.Loop, false);
  if (Outside.size() > MostDefinitions + 1)
    return std::nullopt;
  std::optional<int64_t> Least;
  for (size_t At : Outside) {
    const PtxInstruction &I = F.Code[At];
    std::optional<int64_t> Its;
    if (auto Sum = addsConstant(I)) {
      Its = startAtThread(Sum->first, W, Depth + 1);
      if (Its)
        Its = plus(*Its, Sum->second);
    } else if (copies(I)) {
      Its = startAtThread(I.Operands[1].name(), W, Depth + 1);
    } else if (I.Opcode == "mad" || I.Opcode == "add") {
      // `threadIdx.y * 16 + threadIdx.x`
      Its = startAtThread(I.Operands.back().name(), W, Depth + 1);
    }
    if (Its && (!Least || *Its < *Least))
      Least = Its;
  }
  return Least;
}

std::optional<TripFinder::Exit> TripFinder::exitAt(unsigned Block, unsigned Loop) const {
  const FlowBlock &B = Flow.Blocks[Block];
  if (B.First == B.Last || B.Successors.size() != 2)
    return std::nullopt;
  const PtxInstruction &Branch = F.Code[B.Last - 1];
  bool FirstStays = Flow.contains(Loop, B.Successors[0]);
  if (Branch.Opcode != "bra" || Branch.Predicate.empty() ||
      FirstStays == Flow.contains(Loop, B.Successors[1]))
    return std::nullopt;
  SmallVector<size_t, 4> Compares = definitions(Branch.Predicate, Loop, true);
  if (Compares.size() != 1 || F.Code[Compares[0]].Opcode != "setp" ||
      !Flow.dominates(BlockOf[Compares[0]], Block))
    return std::nullopt;
  // The target of the branch is the first successor.
  return Exit{Compares[0], FirstStays != Branch.PredicateNegated, Block};
}

/// Whether \p Compare is true for \p A and \p B in the type that its modifiers name. Returns
/// nothing if it does not compare integers.
std::optional<bool> holds(const PtxInstruction &Compare, int64_t A, int64_t B) {
  if (Compare.Operands.size() != 3 || Compare.Modifiers.size() != 2)
    return std::nullopt;
  StringRef Type = Compare.Modifiers[1], Op = Compare.Modifiers[0];
  bool Signed = Type.starts_with(".s");
  if (Type.ends_with("32")) {
    A = Signed ? static_cast<int32_t>(A) : static_cast<int64_t>(static_cast<uint32_t>(A));
    B = Signed ? static_cast<int32_t>(B) : static_cast<int64_t>(static_cast<uint32_t>(B));
  } else if (!Type.ends_with("64")) {
    return std::nullopt;
  }
  auto Order = Signed || Type.ends_with("32") ? A <=> B : uint64_t(A) <=> uint64_t(B);
  if (Op == ".eq" || Op == ".ne")
    return (Op == ".eq") == (A == B);
  if (Op == ".lt" || Op == ".lo")
    return Order < 0;
  if (Op == ".le" || Op == ".ls")
    return Order <= 0;
  if (Op == ".gt" || Op == ".hi")
    return Order > 0;
  if (Op == ".ge" || Op == ".hs")
    return Order >= 0;
  return std::nullopt;
}

/// Counts the trips of a loop whose variable starts with \p Start and grows by \p Step in each
/// trip.
std::optional<double> countTrips(const PtxInstruction &Compare, bool StaysOnTrue, bool VariableLeft,
                                 int64_t Start, int64_t Step, int64_t Bound) {
  for (int64_t Trip = 1, Value = Start; Trip <= MostTrips; ++Trip, Value = plus(Value, Step)) {
    auto Holds = VariableLeft ? holds(Compare, Value, Bound) : holds(Compare, Bound, Value);
    if (!Holds)
      return std::nullopt;
    if (*Holds != StaysOnTrue)
      return Trip;
  }
  return std::nullopt;
}

/// Sets \p Count from one exit. Returns false if the exit tells nothing.
bool TripFinder::fromExit(const Exit &E, unsigned Loop, LoopCount &Count, double Assumed) const {
  const PtxInstruction &Compare = F.Code[E.Compare];
  if (Compare.Operands.size() != 3)
    return false;
  MaybeLinear Left = valueAt(Compare.Operands[1].name(), before(E.Compare), Loop);
  MaybeLinear Right = valueAt(Compare.Operands[2].name(), before(E.Compare), Loop);
  if (!Left || !Right)
    return false;
  auto Varies = [&](const Linear &L) {
    return !L.Base.empty() && !definitions(L.Base, Loop, true).empty();
  };
  if (Varies(*Left) == Varies(*Right))
    return false;
  const Linear &Variable = Varies(*Left) ? *Left : *Right;
  const Linear &Bound = Varies(*Left) ? *Right : *Left;
  unsigned Latch = Flow.Loops[Loop].Latches.front();
  MaybeLinear Next = valueAt(Variable.Base, Place{Latch, Flow.Blocks[Latch].Last}, Loop);
  if (!Next || Next->Base != Variable.Base || !Next->Offset)
    return false;
  int64_t Step = Next->Offset;
  auto Start = constantBefore(Variable.Base, Loop);
  TripSource Source = Start ? TripSource::Constant : TripSource::FromThread;
  if (!Start && Bound.Base.empty())
    Start = startAtThread(Variable.Base, Loop);
  if (Start && Bound.Base.empty())
    if (auto Trips = countTrips(Compare, E.StaysOnTrue, Varies(*Left),
                                plus(*Start, Variable.Offset), Step, Bound.Offset)) {
      // If the exit is at the top of the loop, the blocks after it run one time less.
      Count.Trips = E.Block == Latch ? *Trips : std::max(*Trips - 1, 0.0);
      Count.Source = Source;
      return true;
    }
  return fromMask(Variable.Base, Bound.Base, Step, Loop, Count, Assumed);
}

/// Sets \p Count for an unrolled loop, or for the loop that does what unrolling leaves over.
bool TripFinder::fromMask(StringRef Variable, StringRef Bound, int64_t Step, unsigned Loop,
                          LoopCount &Count, double Assumed) const {
  std::optional<int64_t> Mask = maskBehind(Variable, Loop);
  if (!Mask && !Bound.empty())
    Mask = maskBehind(Bound, Loop);
  if (!Mask)
    return false;
  constexpr int64_t MostUnrolled = 1 << 10;
  if (Step < -MostUnrolled || Step > MostUnrolled)
    return false;
  int64_t Width = std::abs(Step);
  if (Width == 1 && *Mask > 0 && *Mask < 64 && isPowerOf2_64(*Mask + 1)) {
    Count.Trips = (*Mask + 1) / 2.0;
    Count.Source = TripSource::Remainder;
    return true;
  }
  // The bound is `N & -4`, or `N & 0x7ffffffc` if N is not negative.
  if (Width > 1 && isPowerOf2_64(Width) && (*Mask & (2 * Width - 1)) == Width) {
    Count.Trips = std::max(Assumed / Width, 1.0);
    Count.Source = TripSource::Unrolled;
    return true;
  }
  return false;
}

void TripFinder::find(unsigned Loop, LoopCount &Count, double Assumed) const {
  const FlowLoop &L = Flow.Loops[Loop];
  if (L.Latches.size() != 1)
    return;
  std::optional<LoopCount> Best;
  for (unsigned Block : L.Blocks) {
    std::optional<Exit> E;
    if (Flow.LoopOf[Block] == Loop && Flow.dominates(Block, L.Latches.front()))
      E = exitAt(Block, Loop);
    LoopCount Found = Count;
    if (E && fromExit(*E, Loop, Found, Assumed) &&
        (!Best || (Found.Source == TripSource::Constant &&
                   (Best->Source != TripSource::Constant || Found.Trips < Best->Trips))))
      Best = Found;
  }
  if (Best)
    Count = *Best;
}

} // namespace

StringRef carve::tripSourceName(TripSource S) {
  switch (S) {
  case TripSource::Constant:
    return "constant";
  case TripSource::FromThread:
    return "from-thread";
  case TripSource::Counted:
    return "counted";
  case TripSource::Annotated:
    return "annotated";
  case TripSource::Remainder:
    return "remainder";
  case TripSource::Unrolled:
    return "assumed-unrolled";
  case TripSource::Matched:
    return "ptx";
  case TripSource::Assumed:
    return "assumed";
  }
  return "";
}

std::vector<LoopCount> carve::loopTrips(const PtxFunction &F, const TripCounts &Known,
                                        unsigned FirstNumber) {
  std::vector<LoopCount> Counts;
  TripFinder Finder(F);
  for (auto [Index, L] : enumerate(F.Flow.Loops)) {
    LoopCount C;
    C.Number = FirstNumber + Index;
    C.Depth = L.Depth;
    C.Line = F.Code[F.Flow.Blocks[L.Latches.back()].Last - 1].Line;
    C.Trips = Known.Assumed;
    auto Number = Known.ByNumber.find(C.Number);
    auto Line = Known.ByLine.find(C.Line);
    if (Number != Known.ByNumber.end() || (C.Line && Line != Known.ByLine.end())) {
      C.Trips = Number != Known.ByNumber.end() ? Number->second : Line->second;
      C.Source = TripSource::Annotated;
    } else {
      Finder.find(Index, C, Known.Assumed);
    }
    Counts.push_back(std::move(C));
  }
  return Counts;
}
