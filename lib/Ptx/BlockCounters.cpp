// Some threads of a warp may reach a block before the others do. `activemask` tells which threads
// are there, and gives each of them the same answer. The lowest of these threads adds their number
// to the counter. The sum is right whether or not the threads stay together after that.

#include "Ptx/BlockCounters.h"

#include "Ptx/TextEdits.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace carve;
using namespace llvm;

namespace {

constexpr unsigned CounterBytes = 8;

bool isLatch(const ControlFlow &Flow, unsigned Block) {
  return any_of(Flow.Loops, [&](const FlowLoop &L) { return is_contained(L.Latches, Block); });
}

/// Returns the branch at the end of \p Block if it is conditional; else null.
const PtxInstruction *conditionalBranch(const PtxFunction &F, unsigned Block) {
  const FlowBlock &B = F.Flow.Blocks[Block];
  if (B.First == B.Last)
    return nullptr;
  const PtxInstruction &Last = F.Code[B.Last - 1];
  return Last.Opcode == "bra" && !Last.Predicate.empty() ? &Last : nullptr;
}

class CounterWriter {
public:
  CounterWriter(const PtxModule &M, StringRef Variable, unsigned Copies)
      : M(M), Variable(Variable), Copies(Copies) {}
  Error addFunction(StringRef Name);
  CountingPtx finish();

private:
  struct Place {
    size_t At; ///< Offset in the module's text.
    size_t Counter;
  };
  std::string increment(size_t Counter) const;

  const PtxModule &M;
  StringRef Variable;
  unsigned Copies;
  CountingPtx Result;
  /// The first counter of each definition, by its place in the text; several aliases may name one.
  std::map<const char *, size_t> Known;
  std::vector<Place> Places;
  size_t FirstDefinition = StringRef::npos;
};

Error CounterWriter::addFunction(StringRef Name) {
  StringRef Definition = M.definitionOf(Name);
  if (Definition.empty())
    return Error::success();
  auto F = readPtxFunction(Definition);
  if (!F)
    return F.takeError();
  const std::vector<FlowBlock> &Blocks = F->Flow.Blocks;
  auto [It, New] = Known.try_emplace(Definition.data(), Result.Counters);
  Result.FirstOf[Name.str()] = It->second;
  Result.BlocksOf[Name.str()] = Blocks.size();
  if (!New)
    return Error::success();
  size_t Base = Definition.data() - M.text().data();
  FirstDefinition = std::min(FirstDefinition, Base);
  for (auto [Index, B] : enumerate(Blocks)) {
    if (B.First == B.Last)
      continue;
    // The counter goes after labels and pragmas, because they belong to the instruction that
    // follows them.
    Places.push_back({Base + F->Code[B.First].Begin, It->second + Index});
    const PtxInstruction *Branch = conditionalBranch(*F, Index);
    if (Branch && isLatch(F->Flow, Index))
      // The counter goes before the label of the next block, if it has one, so that only the
      // fall-through is counted.
      Places.push_back({Base + Branch->End, It->second + Blocks.size() + Index});
  }
  Result.Counters += 2 * Blocks.size();
  return Error::success();
}

std::string CounterWriter::increment(size_t Counter) const {
  return formatv("{{ .reg .pred %carve_p; .reg .b32 %carve_m, %carve_l; .reg .b64 %carve_a, "
                 "%carve_n; activemask.b32 %carve_m; mov.u32 %carve_l, %lanemask_lt; "
                 "and.b32 %carve_l, %carve_l, %carve_m; setp.eq.u32 %carve_p, %carve_l, 0; "
                 "popc.b32 %carve_l, %carve_m; cvt.u64.u32 %carve_n, %carve_l; "
                 "mov.u32 %carve_l, %smid; rem.u32 %carve_l, %carve_l, {0}; "
                 "mov.u64 %carve_a, {1}; mad.wide.u32 %carve_a, %carve_l, {2}, %carve_a; "
                 "@%carve_p red.global.add.u64 [%carve_a+{3}], %carve_n; }\n\t",
                 Copies, Variable, Result.Counters * CounterBytes, Counter * CounterBytes)
      .str();
}

CountingPtx CounterWriter::finish() {
  TextEdits E;
  if (!Places.empty())
    E.insert(FirstDefinition, formatv(".visible .global .align {0} .b8 {1}[{2}];\n", CounterBytes,
                                      Variable, Result.Counters * CounterBytes * Copies)
                                  .str());
  for (const Place &P : Places)
    E.insert(P.At, increment(P.Counter));
  Result.Text = E.apply(M.text());
  return std::move(Result);
}

} // namespace

Expected<CountingPtx> carve::withBlockCounters(const PtxModule &M, ArrayRef<std::string> Entries,
                                               StringRef Variable, unsigned Copies) {
  if (StringRef(M.text()).contains(Variable))
    return malformed("PTX: the name " + Variable + " is taken");
  CounterWriter Writer(M, Variable, Copies);
  for (const std::string &Name : Entries) {
    const PtxEntry *Entry = M.find(Name);
    if (!Entry)
      return malformed("PTX: no entry named " + Name);
    if (Error E = Writer.addFunction(Name))
      return E;
    for (const std::string &Callee : Entry->Callees)
      if (Error E = Writer.addFunction(Callee))
        return E;
  }
  return Writer.finish();
}

RunsByFunction CountingPtx::runs(const std::map<size_t, uint64_t> &Counts) const {
  RunsByFunction All;
  auto Of = [&](size_t Counter) {
    auto It = Counts.find(Counter);
    return It == Counts.end() ? 0 : It->second;
  };
  for (const auto &[Name, First] : FirstOf) {
    BlockRuns &Runs = All[Name];
    size_t Blocks = BlocksOf.at(Name);
    for (size_t B = 0; B < Blocks; ++B) {
      Runs.Blocks.push_back(Of(First + B));
      Runs.NotTaken.push_back(Of(First + Blocks + B));
    }
  }
  return All;
}

/// Returns how often \p Block was followed by \p Next; nothing if that was not counted.
static std::optional<uint64_t> timesAlong(const PtxFunction &F, const BlockRuns &Runs,
                                          unsigned Block, unsigned Next) {
  const FlowBlock &B = F.Flow.Blocks[Block];
  if (B.Successors.size() == 1)
    return Runs.Blocks[Block];
  if (!conditionalBranch(F, Block))
    return std::nullopt;
  // readPtxFunction() puts the target of the branch first.
  return Next == B.Successors.front() ? Runs.Blocks[Block] - Runs.NotTaken[Block]
                                      : Runs.NotTaken[Block];
}

CountedFlow carve::countedFlow(const PtxFunction &F, const BlockRuns &Runs) {
  const ControlFlow &Flow = F.Flow;
  CountedFlow Result;
  Result.Frequencies.resize(Flow.Blocks.size());
  Result.Trips.resize(Flow.Loops.size());
  if (Runs.Blocks.size() != Flow.Blocks.size() || Flow.Blocks.empty())
    return Result;
  auto Calls = static_cast<double>(Runs.Blocks[0]);
  for (auto [Index, L] : enumerate(Flow.Loops)) {
    uint64_t Repeated = 0, Times = Runs.Blocks[L.Header];
    bool Known = true;
    for (unsigned Latch : L.Latches) {
      auto Along = timesAlong(F, Runs, Latch, L.Header);
      Known &= Along.has_value();
      Repeated += Along.value_or(0);
    }
    if (!Known)
      continue;
    Result.Trips[Index] = Times > Repeated ? double(Times) / double(Times - Repeated) : 0;
    if (L.Header == 0)
      Calls = double(Times - Repeated);
  }
  Result.Calls = Calls;
  for (auto [Block, Times] : enumerate(Runs.Blocks))
    Result.Frequencies[Block] = Calls > 0 ? double(Times) / Calls : 0;
  return Result;
}
