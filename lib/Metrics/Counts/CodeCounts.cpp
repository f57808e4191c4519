#include "Metrics/Counts/CodeCounts.h"

#include "Cubin/MachineCode.h"
#include "Metrics/Counts/CountSum.h"
#include "Metrics/Counts/LoopMatch.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace carve;
using namespace llvm;
using Instruction = MachineInstruction;

namespace {

MemoryAccess accessOf(const Instruction &I) {
  switch (I.Kind) {
  case Instruction::GlobalLoad:
  case Instruction::GlobalToShared:
    return {AccessSpace::Global, true, false, I.Bytes};
  case Instruction::GlobalStore:
  case Instruction::GlobalAtomic:
    return {AccessSpace::Global, false, true, I.Bytes};
  case Instruction::SharedLoad:
  case Instruction::SharedStore:
  case Instruction::SharedAtomic:
    return {AccessSpace::Shared, false, false, I.Bytes};
  case Instruction::LocalLoad:
    return {AccessSpace::Local, true, false, I.Bytes};
  case Instruction::LocalStore:
    return {AccessSpace::Local, false, true, I.Bytes};
  default:
    return {};
  }
}

bool isLongLatency(const Instruction &I) {
  return I.Kind == Instruction::GlobalLoad || I.Kind == Instruction::GlobalAtomic ||
         I.Kind == Instruction::LocalLoad;
}

/// Returns for each block the number of its barriers and of its instructions that wait for a
/// scoreboard set by a long-latency load. As for PTX, loads in flight at the same time are waited
/// for once.
std::vector<unsigned> waitsOf(const MachineFunction &F) {
  const ControlFlow &Flow = F.Flow;
  std::vector<unsigned> Waits(Flow.Blocks.size()), AtEnd(Flow.Blocks.size()),
      AtStart(Flow.Blocks.size());
  for (unsigned Pass = 0; Pass < 2; ++Pass)
    for (unsigned Block : Flow.ReversePostOrder) {
      unsigned Pending = AtStart[Block];
      Waits[Block] = 0;
      for (size_t At = Flow.Blocks[Block].First; At < Flow.Blocks[Block].Last; ++At) {
        const Instruction &I = F.Code[At];
        bool Waited = Pending & I.WaitsFor;
        if (Waited)
          Pending = 0;
        Waits[Block] += Waited || I.Kind == Instruction::Barrier;
        if (isLongLatency(I) && I.SetsScoreboard)
          Pending |= 1u << *I.SetsScoreboard;
        else if (I.SetsScoreboard)
          Pending &= ~(1u << *I.SetsScoreboard);
      }
      AtEnd[Block] = Pending;
      for (unsigned Next : Flow.Blocks[Block].Successors)
        AtStart[Next] |= Pending;
    }
  return Waits;
}

double *pipeOf(PipeCounts &Pipes, Instruction::PipeTy Pipe) {
  switch (Pipe) {
  case Instruction::NoPipe:
    return nullptr;
  case Instruction::Fp32:
    return &Pipes.Fp32;
  case Instruction::IntegerMultiply:
    return &Pipes.IntegerMultiply;
  case Instruction::Integer:
    return &Pipes.Integer;
  case Instruction::Fp64:
    return &Pipes.Fp64;
  case Instruction::Special:
    return &Pipes.Special;
  case Instruction::Tensor:
    return &Pipes.Tensor;
  }
  return nullptr;
}

class CodeCounter {
public:
  CodeCounter(std::vector<MachineFunction> Functions, const TripCounts &Trips)
      : Functions(std::move(Functions)), Trips(Trips), Sums(this->Functions.size()),
        Active(this->Functions.size()) {}
  CountedKernel run();

private:
  std::vector<LoopCount> loops() const;
  const CountSum *sumOf(size_t Function);
  const CountSum *calleeOf(const MachineFunction &Caller, const Instruction &Call);

  std::vector<MachineFunction> Functions; ///< The kernel is the first.
  const TripCounts &Trips;
  // By function and by loop of the function.
  std::vector<std::vector<double>> TripsOf;
  std::vector<std::vector<std::optional<double>>> PerRunOf;
  std::vector<std::optional<CountSum>> Sums;
  std::vector<bool> Active;
};

void countOwn(const MachineFunction &F, unsigned Loop, LoopCount &L) {
  for (unsigned Block : F.Flow.Loops[Loop].Blocks)
    for (size_t At = F.Flow.Blocks[Block].First;
         F.Flow.LoopOf[Block] == Loop && At < F.Flow.Blocks[Block].Last; ++At) {
      const Instruction &I = F.Code[At];
      AccessSpace Space = accessOf(I).Space;
      L.OwnInstructions += I.Kind != Instruction::Nop;
      L.OwnMemory += Space == AccessSpace::Global || Space == AccessSpace::Shared ||
                     I.Kind == Instruction::Barrier;
      L.Swaps |= I.Swaps;
    }
}

std::vector<LoopCount> CodeCounter::loops() const {
  std::vector<LoopCount> Loops;
  for (const MachineFunction &F : Functions)
    for (auto [Index, L] : enumerate(F.Flow.Loops)) {
      LoopCount C;
      C.Number = Loops.size() + 1;
      C.Function = F.Section;
      C.OfEntry = &F == &Functions.front();
      C.Depth = L.Depth;
      C.Trips = Trips.Assumed;
      countOwn(F, Index, C);
      Loops.push_back(std::move(C));
    }
  matchLoops(Trips.OfPtx, Loops);
  return Loops;
}

const CountSum *CodeCounter::calleeOf(const MachineFunction &Caller, const Instruction &Call) {
  bool Elsewhere = !Call.Callee.empty();
  auto It = find_if(Functions, [&](const MachineFunction &F) {
    return Elsewhere ? F.Section == Call.Callee && F.Entry == 0
                     : Call.Target && F.Section == Caller.Section && F.Entry == *Call.Target;
  });
  return It == Functions.end() ? nullptr : sumOf(It - Functions.begin());
}

const CountSum *CodeCounter::sumOf(size_t Index) {
  if (Sums[Index] || Active[Index])
    return Sums[Index] ? &*Sums[Index] : nullptr;
  Active[Index] = true;
  const MachineFunction &F = Functions[Index];
  std::vector<double> Frequencies = blockFrequencies(F.Flow, TripsOf[Index], PerRunOf[Index]);
  std::vector<unsigned> Waits = waitsOf(F);
  CountSum Sum;
  for (unsigned Block : F.Flow.ReversePostOrder) {
    double Times = Frequencies[Block];
    unsigned Depth = F.Flow.depth(Block);
    Sum.Counts.Regions += Times * Waits[Block];
    for (size_t At = F.Flow.Blocks[Block].First; At < F.Flow.Blocks[Block].Last; ++At) {
      const Instruction &I = F.Code[At];
      if (I.Kind == Instruction::Nop)
        continue;
      Sum.Counts.Instructions += Times;
      Sum.addAccess(accessOf(I), Times, Depth);
      if (double *Pipe = pipeOf(Sum.Counts.Pipes, I.Pipe))
        *Pipe += Times;
      if (I.Kind != Instruction::Call)
        continue;
      // A call under a condition is a branch, for example to the slow path of a division.
      if (const CountSum *Callee = calleeOf(F, I))
        Sum.add(*Callee, I.Conditional ? Times / 2 : Times, Depth);
    }
  }
  Active[Index] = false;
  Sums[Index] = std::move(Sum);
  return &*Sums[Index];
}

CountedKernel CodeCounter::run() {
  std::vector<LoopCount> Loops = loops();
  auto Next = Loops.begin();
  for (const MachineFunction &F : Functions) {
    TripsOf.emplace_back();
    PerRunOf.emplace_back();
    for (size_t I = 0; I < F.Flow.Loops.size(); ++I, ++Next) {
      TripsOf.back().push_back(Next->Trips);
      PerRunOf.back().push_back(Next->PerRun);
    }
  }
  return sumOf(0)->finish(std::move(Loops));
}

} // namespace

Expected<CountedKernel> carve::countCodeKernel(StringRef CubinBytes, StringRef Kernel,
                                               const TripCounts &Trips) {
  auto Functions = readMachineCode(CubinBytes, Kernel);
  if (!Functions)
    return Functions.takeError();
  return CodeCounter(std::move(*Functions), Trips).run();
}

Expected<KernelCounts> carve::countCode(StringRef CubinBytes, StringRef Kernel,
                                        const TripCounts &Trips) {
  auto Counted = countCodeKernel(CubinBytes, Kernel, Trips);
  if (!Counted)
    return Counted.takeError();
  return Counted->Counts;
}
