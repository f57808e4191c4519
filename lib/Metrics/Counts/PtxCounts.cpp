#include "Metrics/Counts/PtxCounts.h"

#include "Metrics/Counts/CountSum.h"
#include "Metrics/Counts/LoopTrips.h"
#include "Metrics/Counts/ThreadStride.h"
#include "Metrics/Counts/WarpAccess.h"
#include "Ptx/PtxInstructions.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace carve;
using namespace llvm;

namespace {

constexpr unsigned WarpSize = WarpLanes;

bool hasPrefix(const PtxInstruction &I, StringRef Prefix) {
  return any_of(I.Modifiers, [&](StringRef M) { return M.starts_with(Prefix); });
}

AccessSpace spaceOf(const PtxInstruction &I) {
  if (hasPrefix(I, ".shared"))
    return AccessSpace::Shared;
  if (I.has(".local"))
    return AccessSpace::Local;
  return hasPrefix(I, ".param") || I.has(".const") ? AccessSpace::None : AccessSpace::Global;
}

/// Whether ptxas makes no instruction of \p I.
bool vanishes(const PtxInstruction &I) {
  return (I.Opcode == "ld" || I.Opcode == "st" ? hasPrefix(I, ".param") : false) ||
         I.Opcode == "cvta";
}

bool readsTexture(const PtxInstruction &I) {
  return I.Opcode == "tex" || I.Opcode == "tld4" || I.Opcode == "suld";
}

/// Returns the bytes that `cp.async` copies, which is the first number among its operands.
unsigned copiedBytes(const PtxInstruction &I) {
  unsigned Bytes = 0;
  for (const PtxOperand &O : I.Operands)
    if (!O.IsAddress && !O.name().getAsInteger(0, Bytes))
      return Bytes;
  return 0;
}

MemoryAccess accessOf(const PtxInstruction &I) {
  StringRef Op = I.Opcode;
  if (readsTexture(I)) // Each component has four bytes.
    return {AccessSpace::Global, true, false, unsigned(4 * I.Operands.front().Names.size())};
  if (Op == "sust" || Op == "sured")
    return {AccessSpace::Global, false, true, I.accessBytes()};
  if (Op == "cp" && I.has(".async") && !hasPrefix(I, ".commit") && !hasPrefix(I, ".wait")) {
    bool Stores = !I.Modifiers.empty() && hasPrefix(I, ".global") && hasPrefix(I, ".bulk") &&
                  find(I.Modifiers, ".global") <
                      find_if(I.Modifiers, [](StringRef M) { return M.starts_with(".shared"); });
    return {AccessSpace::Global, !Stores, Stores, copiedBytes(I)};
  }
  if (Op == "ldmatrix" || Op == "stmatrix")
    return {AccessSpace::Shared, Op == "ldmatrix", Op == "stmatrix", 0};
  if (Op == "wmma" && (I.has(".load") || I.has(".store"))) {
    bool Loads = I.has(".load");
    const PtxOperand &Fragment = I.Operands[Loads || I.Operands.size() < 2 ? 0 : 1];
    return {spaceOf(I), Loads, !Loads, unsigned(4 * Fragment.Names.size())};
  }
  bool Loads = Op == "ld" || Op == "ldu" || Op == "atom";
  bool Stores = Op == "st" || Op == "red" || Op == "atom" || Op == "multimem";
  if (!Loads && !Stores)
    return {};
  return {spaceOf(I), Loads, Stores, I.accessBytes()};
}

/// Adds an instruction to the unit that executes it, as far as PTX tells. ptxas chooses the actual
/// instructions, and it makes many of a division.
void addPipe(const PtxInstruction &I, double Times, PipeCounts &Pipes) {
  StringRef Op = I.Opcode;
  bool Multiplies = Op == "mul" || Op == "mad" || Op == "fma";
  if (Op == "mma" || Op == "wgmma" || (Op == "wmma" && I.has(".mma")))
    Pipes.Tensor += Times;
  else if (is_contained({"sin", "cos", "ex2", "lg2", "rcp", "sqrt", "rsqrt", "tanh", "div", "popc",
                         "clz", "brev"},
                        Op))
    Pipes.Special += Times;
  else if (!Multiplies && !is_contained({"add", "sub", "setp", "min", "max", "and", "or", "xor",
                                         "not", "shl", "shr", "shf", "lop3", "selp", "neg", "abs"},
                                        Op))
    return;
  else if (I.has(".f64"))
    Pipes.Fp64 += Times;
  else if (Op != "setp" && Op != "selp" && (hasPrefix(I, ".f") || hasPrefix(I, ".bf")))
    Pipes.Fp32 += Times;
  else
    (Multiplies ? Pipes.IntegerMultiply : Pipes.Integer) += Times;
}

/// Whether all later instructions of the warp wait for \p I.
bool waitsForAll(const PtxInstruction &I) {
  StringRef Op = I.Opcode;
  if (Op == "bar" || Op == "barrier")
    return !I.has(".arrive") && !I.has(".warp");
  if (Op == "membar" || Op == "fence")
    return !hasPrefix(I, ".proxy");
  if (Op == "mbarrier")
    return hasPrefix(I, ".try_wait") || hasPrefix(I, ".test_wait");
  return (Op == "cp" || Op == "wgmma" || Op == "tcgen05") && hasPrefix(I, ".wait");
}

/// Whether the result comes from global or local memory.
bool isLongLatency(const PtxInstruction &I) {
  MemoryAccess A = accessOf(I);
  return A.Loads && I.hasResult() &&
         (A.Space == AccessSpace::Global || A.Space == AccessSpace::Local);
}

/// Counts for each block the instructions at which a warp waits (blocking instructions in Ryoo et
/// al.): barriers, and the first use of a value that was loaded from global or local memory. Loads
/// in flight at the same time are waited for once.
class WaitFinder {
public:
  explicit WaitFinder(const PtxFunction &F) : F(F), Pending(F.Flow.Blocks.size()) {}
  std::vector<unsigned> run();

private:
  unsigned walk(const FlowBlock &B, StringSet<> &Loads) const;

  const PtxFunction &F;
  std::vector<StringSet<>> Pending; ///< The loads in flight at the end of each block.
};

unsigned WaitFinder::walk(const FlowBlock &B, StringSet<> &Loads) const {
  unsigned Waits = 0;
  for (size_t At = B.First; At < B.Last; ++At) {
    const PtxInstruction &I = F.Code[At];
    if (vanishes(I) && I.Opcode != "st" && I.Opcode != "cvta")
      continue;
    bool Uses = Loads.contains(I.Predicate) || any_of(I.Operands, [&](const PtxOperand &O) {
                  return any_of(O.Names, [&](StringRef N) { return Loads.contains(N); });
                });
    if (Uses)
      Loads.clear();
    Waits += Uses || waitsForAll(I);
    if (isLongLatency(I))
      for (StringRef Name : I.Operands.front().Names)
        Loads.insert(Name);
  }
  return Waits;
}

std::vector<unsigned> WaitFinder::run() {
  std::vector<unsigned> Waits(F.Flow.Blocks.size());
  std::vector<std::vector<unsigned>> Predecessors(F.Flow.Blocks.size());
  for (unsigned Block : F.Flow.ReversePostOrder)
    for (unsigned Next : F.Flow.Blocks[Block].Successors)
      Predecessors[Next].push_back(Block);
  // Two passes are made, so that the loads at the end of a loop are known at its head.
  for (unsigned Pass = 0; Pass < 2; ++Pass)
    for (unsigned Block : F.Flow.ReversePostOrder) {
      StringSet<> Loads;
      for (unsigned Before : Predecessors[Block])
        for (const auto &Name : Pending[Before])
          Loads.insert(Name.first());
      Waits[Block] = walk(F.Flow.Blocks[Block], Loads);
      Pending[Block] = std::move(Loads);
    }
  return Waits;
}

class PtxCounter {
public:
  PtxCounter(const PtxModule &M, const TripCounts &Trips, unsigned ThreadsPerBlockX)
      : M(M), Trips(Trips), ThreadsPerBlockX(ThreadsPerBlockX) {}
  Expected<CountedKernel> run(StringRef Entry);

private:
  struct Function {
    PtxFunction Body;
    std::vector<double> Frequencies; ///< How often each block runs in one call.
    bool IsEntry = false;
    /// Empty until the function has been counted. Active is set while that is going on.
    std::optional<CountSum> Sum;
    bool Active = false;
  };

  Error read(StringRef Name, bool IsEntry);
  /// Returns the counts of one call; null if there is no body, or if it is being counted.
  const CountSum *sumOf(StringRef Name);
  void addStride(const MemoryAccess &A, std::optional<int64_t> Stride, double Times,
                 CountSum &Sum) const;
  void countBlock(const PtxFunction &F, unsigned Block, double Times, ThreadStrides &Strides,
                  CountSum &Sum);
  bool isCoalesced(int64_t Stride, unsigned Bytes) const;

  const PtxModule &M;
  const TripCounts &Trips;
  unsigned ThreadsPerBlockX;
  std::vector<LoopCount> Loops;
  StringMap<Function> Functions;
};

/// Whether the addresses of a warp fill the sectors that they touch, or are all the same.
bool PtxCounter::isCoalesced(int64_t Stride, unsigned Bytes) const {
  if (!Stride)
    return true;
  int64_t Row = ThreadsPerBlockX && ThreadsPerBlockX < WarpSize ? ThreadsPerBlockX : WarpSize;
  return (Stride == Bytes || Stride == -int64_t(Bytes)) && Row * Bytes >= SectorBytes;
}

/// Adds what an access costs its warp. \p Stride is absent if nothing is known about the addresses.
void PtxCounter::addStride(const MemoryAccess &A, std::optional<int64_t> Stride, double Times,
                           CountSum &Sum) const {
  unsigned Row = ThreadsPerBlockX && ThreadsPerBlockX < WarpSize ? ThreadsPerBlockX : WarpSize;
  if (A.Space == AccessSpace::Shared) {
    double Free = sharedRounds(A.Bytes, A.Bytes);
    Sum.Counts.SharedRounds +=
        Times * (Stride && Row == WarpSize ? sharedRounds(*Stride, A.Bytes) : Free);
    return;
  }
  if (Stride)
    Sum.addStride(isCoalesced(*Stride, A.Bytes), Times);
  double Least = Stride ? movedBytes(*Stride, A.Bytes, Row) : A.Bytes;
  double Most = Stride ? Least : std::max<double>(A.Bytes, SectorBytes);
  Sum.Counts.LeastMovedBytes += Times * Least;
  Sum.Counts.MostMovedBytes += Times * Most;
}

void PtxCounter::countBlock(const PtxFunction &F, unsigned Block, double Times,
                            ThreadStrides &Strides, CountSum &Sum) {
  const FlowBlock &B = F.Flow.Blocks[Block];
  unsigned Depth = F.Flow.depth(Block);
  for (size_t At = B.First; At < B.Last; ++At) {
    const PtxInstruction &I = F.Code[At];
    if (vanishes(I))
      continue;
    Sum.Counts.Instructions += Times;
    if (const CountSum *Callee = I.Opcode == "call" ? sumOf(calledName(I)) : nullptr)
      Sum.add(*Callee, Times, Depth);
    MemoryAccess A = accessOf(I);
    Sum.addAccess(A, Times, Depth);
    addPipe(I, Times, Sum.Counts.Pipes);
    if (A.Space != AccessSpace::Global && A.Space != AccessSpace::Shared)
      continue;
    auto Address = find_if(reverse(I.Operands), [](const PtxOperand &O) { return O.IsAddress; });
    bool Seen = A.Bytes && !readsTexture(I) && Address != I.Operands.rend();
    addStride(A, Seen ? Strides.strideOf(*Address) : std::nullopt, Times, Sum);
  }
}

static void countOwn(const PtxFunction &F, unsigned Loop, LoopCount &L) {
  for (unsigned Block : F.Flow.Loops[Loop].Blocks)
    for (size_t At = F.Flow.Blocks[Block].First;
         F.Flow.LoopOf[Block] == Loop && At < F.Flow.Blocks[Block].Last; ++At) {
      const PtxInstruction &I = F.Code[At];
      AccessSpace Space = accessOf(I).Space;
      L.OwnInstructions += !vanishes(I);
      L.OwnMemory +=
          Space == AccessSpace::Global || Space == AccessSpace::Shared || I.Opcode == "bar";
      L.Swaps |= I.Opcode == "atom" && I.has(".cas");
    }
}

static void setPerRun(const ControlFlow &Flow, ArrayRef<double> Frequencies,
                      MutableArrayRef<LoopCount> Loops) {
  for (auto [L, Count] : zip_equal(Flow.Loops, Loops)) {
    double Around = L.Parent ? Frequencies[Flow.Loops[*L.Parent].Header] : 1;
    if (Around > 0)
      Count.PerRun = Frequencies[L.Header] / Around;
  }
}

Error PtxCounter::read(StringRef Name, bool IsEntry) {
  auto Body = readPtxFunction(M.definitionOf(Name));
  if (!Body)
    return Body.takeError();
  Function F;
  std::optional<CountedFlow> Counted;
  if (auto Runs = Trips.Runs.find(Name.str()); Runs != Trips.Runs.end())
    Counted = countedFlow(*Body, Runs->second);
  std::vector<double> TripsOf;
  for (auto [Index, L] : enumerate(loopTrips(*Body, Trips, Loops.size() + 1))) {
    L.Function = Name.str();
    L.OfEntry = IsEntry;
    countOwn(*Body, Index, L);
    if (Counted && Counted->Trips[Index]) {
      L.Trips = *Counted->Trips[Index];
      L.Source = TripSource::Counted;
    }
    TripsOf.push_back(L.Trips);
    Loops.push_back(std::move(L));
  }
  F.Frequencies = Counted ? std::move(Counted->Frequencies) : blockFrequencies(Body->Flow, TripsOf);
  setPerRun(Body->Flow, F.Frequencies, MutableArrayRef(Loops).take_back(TripsOf.size()));
  F.Body = std::move(*Body);
  F.IsEntry = IsEntry;
  Functions[Name] = std::move(F);
  return Error::success();
}

const CountSum *PtxCounter::sumOf(StringRef Name) {
  auto It = Functions.find(Name);
  if (It == Functions.end() || It->second.Active)
    return nullptr;
  Function &F = It->second;
  if (F.Sum)
    return &*F.Sum;
  F.Active = true;
  CountSum Sum;
  ThreadStrides Strides(F.Body, ThreadsPerBlockX, F.IsEntry);
  const ControlFlow &Flow = F.Body.Flow;
  std::vector<unsigned> Waits = WaitFinder(F.Body).run();
  for (unsigned Block : Flow.ReversePostOrder) {
    countBlock(F.Body, Block, F.Frequencies[Block], Strides, Sum);
    Sum.Counts.Regions += F.Frequencies[Block] * Waits[Block];
  }
  F.Active = false;
  F.Sum = std::move(Sum);
  return &*F.Sum;
}

Expected<CountedKernel> PtxCounter::run(StringRef Entry) {
  const PtxEntry *E = M.find(Entry);
  if (!E)
    return malformed("PTX: no entry named " + Entry);
  if (Error Failed = read(Entry, true))
    return Failed;
  for (const std::string &Callee : E->Callees)
    if (!M.definitionOf(Callee).empty())
      if (Error Failed = read(Callee, false))
        return Failed;
  return sumOf(Entry)->finish(Loops);
}

} // namespace

Expected<CountedKernel> carve::countPtxKernel(const PtxModule &M, StringRef Entry,
                                              const TripCounts &Trips, unsigned ThreadsPerBlockX) {
  return PtxCounter(M, Trips, ThreadsPerBlockX).run(Entry);
}

Expected<KernelCounts> carve::countPtx(const PtxModule &M, StringRef Entry, const TripCounts &Trips,
                                       unsigned ThreadsPerBlockX) {
  auto Counted = countPtxKernel(M, Entry, Trips, ThreadsPerBlockX);
  if (!Counted)
    return Counted.takeError();
  return Counted->Counts;
}
