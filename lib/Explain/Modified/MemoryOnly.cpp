#include "Explain/Modified/MemoryOnly.h"

#include "Explain/Modified/MemorySlice.h"
#include "Explain/Modified/ModifiedText.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"

#include "llvm/Support/FormatVariadic.h"

using namespace carve;
using namespace llvm;

/// If more than this share of the arithmetic stays, the remaining time is not that of memory.
static constexpr double MostInseparable = 0.5;

namespace {

/// Writes the memory-only version of one entry.
class MemoryWriter {
public:
  MemoryWriter(const PtxModule &M, StringRef Definition, const RegisterFlow &Flow)
      : M(M), Definition(Definition), Flow(Flow), Slice(Flow), Text(Definition, Flow),
        NewValue(Flow.steps().size()) {}
  std::string whyNot();
  Expected<std::string> write(StringRef Entry, StringRef NewName);

private:
  bool replaceStores();
  std::string whyUnsafe() const;
  std::set<std::string> pointers() const;
  void foldLoads();
  void foldRegister(unsigned Register);
  void foldBehindLoads(unsigned Register);
  bool isTraffic(size_t Instruction) const;
  void bypassLoops();

  const PtxModule &M;
  StringRef Definition;
  const RegisterFlow &Flow;
  MemorySlice Slice;
  ModifiedText Text;
  /// By instruction: true for a store that writes the accumulator instead.
  std::vector<bool> NewValue;
  bool Folds = false;
};

const PtxOperand *addressOf(const PtxInstruction &I) {
  auto It = find_if(I.Operands, [](const PtxOperand &O) { return O.IsAddress; });
  return It == I.Operands.end() ? nullptr : &*It;
}

/// Marks the stores whose value is arithmetic. Returns false if one of them has an unknown form.
bool MemoryWriter::replaceStores() {
  for (auto [At, S] : enumerate(Flow.steps())) {
    bool Writes = S.Action == PtxAction::Store && S.Space != PtxSpace::Shared;
    if (!Writes || Slice.keepsValue(At))
      continue;
    NewValue[At] = true;
    if (Text.storedInstead(Flow.code()[At]).empty())
      return false;
  }
  return true;
}

/// Returns what the kernel uses as pointers to global memory, as far as its conversions of
/// addresses say so.
std::set<std::string> MemoryWriter::pointers() const {
  std::set<std::string> All;
  for (const PtxInstruction &I : Flow.code())
    if (I.Opcode == "cvta" && I.has(".to") && I.has(".global") && I.Operands.size() > 1)
      All.merge(Flow.rootsOf(I.Operands[1]));
  return All;
}

/// Returns why the version could go astray, or an empty text. If an address or a branch comes from
/// memory that the version writes with other values than the kernel, nobody knows where it leads.
std::string MemoryWriter::whyUnsafe() const {
  std::set<std::string> Pointers = pointers(), Written;
  auto Roots = [&](size_t At) {
    const PtxOperand *Address = addressOf(Flow.code()[At]);
    std::set<std::string> All = Address ? Flow.rootsOf(*Address) : std::set<std::string>{"*"};
    std::erase_if(All, [&](const std::string &Root) {
      bool IsParameter = StringRef(Root).contains("_param_");
      return IsParameter && !Pointers.empty() && !Pointers.count(Root);
    });
    if (All.empty())
      All.insert("*");
    return All;
  };
  for (auto [At, S] : enumerate(Flow.steps()))
    if (NewValue[At] && S.Space == PtxSpace::Global)
      Written.merge(Roots(At));
  for (size_t Load : Slice.decidingLoads()) {
    if (Flow.steps()[Load].ReadOnly || Written.empty())
      continue;
    std::set<std::string> Read = Roots(Load);
    bool Known = !Read.count("*") && !Written.count("*");
    if (!Known || any_of(Read, [&](const std::string &Root) { return Written.count(Root); }))
      return "addresses or branches depend on memory that it may have written";
  }
  return "";
}

std::string MemoryWriter::whyNot() {
  if (!replaceStores())
    return "it stores values of unknown width";
  if (std::string Why = whyUnsafe(); !Why.empty())
    return Why;
  if (double Share = Slice.inseparable(); Share > MostInseparable)
    return formatv("its addresses and branches need {0:f0} % of its arithmetic", 100 * Share).str();
  return "";
}

bool MemoryWriter::isTraffic(size_t Instruction) const {
  const PtxStep &S = Flow.steps()[Instruction];
  return S.Action == PtxAction::Load && S.Space != PtxSpace::Shared;
}

/// Folds a register that is used only in deeper loops. It is folded once after each of its loads,
/// and not in every iteration.
void MemoryWriter::foldBehindLoads(unsigned Register) {
  for (size_t W : Flow.registers()[Register].Writers) {
    if (!isTraffic(W))
      continue;
    size_t Last = Flow.flow().Blocks[Flow.blockOf(W)].Last - 1;
    if (Flow.steps()[Last].Action == PtxAction::Control)
      Text.before(Last, Text.fold(Register));
    else
      Text.after(W, Text.fold(Register));
  }
}

/// Makes the version wait for a loaded value at its first use in each block, as the kernel does.
void MemoryWriter::foldRegister(unsigned Register) {
  const PtxRegister &R = Flow.registers()[Register];
  unsigned Depth = 0;
  for (size_t W : R.Writers)
    if (isTraffic(W) || Slice.holdsLoaded(Register))
      Depth = std::max(Depth, Flow.depthOf(W));
  std::set<unsigned> Blocks;
  bool Used = false;
  for (size_t Reader : R.Readers) {
    if (Slice.keeps(Reader) && !NewValue[Reader] && Flow.code()[Reader].Opcode != "mov")
      return; // The kept instructions use it.
    if (Slice.keeps(Reader) && !NewValue[Reader])
      continue; // This is a copy, which has users of its own.
    Used = Folds = true;
    if (!Slice.isIdle(Reader) && Flow.depthOf(Reader) <= Depth &&
        Blocks.insert(Flow.blockOf(Reader)).second)
      Text.before(Reader, Text.fold(Register));
  }
  if (Used && Blocks.empty())
    foldBehindLoads(Register);
}

void MemoryWriter::foldLoads() {
  for (auto [Number, R] : enumerate(Flow.registers())) {
    bool FromMemory = Slice.holdsLoaded(Number) ||
                      any_of(R.Writers, [&](size_t W) { return isTraffic(W) && Slice.keeps(W); });
    if (FromMemory && !Slice.needs(Number))
      foldRegister(Number);
  }
}

void MemoryWriter::bypassLoops() {
  const ControlFlow &F = Flow.flow();
  auto First = [&](unsigned Block) { return F.Blocks[Block].First; };
  // The exit of one loop may be the header of another, so all labels are placed first.
  for (const IdleLoop &L : Slice.idleLoops())
    Text.before(First(L.Exit), formatv("$carve_behind_{0}:\n\t", L.Loop).str());
  for (const IdleLoop &L : Slice.idleLoops())
    Text.before(First(F.Loops[L.Loop].Header), formatv("bra $carve_behind_{0};\n\t", L.Loop).str());
}

Expected<std::string> MemoryWriter::write(StringRef Entry, StringRef NewName) {
  bypassLoops();
  foldLoads();
  std::vector<std::string> Shared = sharedVariables(M.text(), Definition);
  // Without either, the accumulator is a constant, and there is nothing to keep alive.
  if (Folds || !Shared.empty())
    Text.guardExits(Shared);
  for (size_t At = 0; At < Flow.steps().size(); ++At) {
    if (NewValue[At])
      Text.after(At, Text.storedInstead(Flow.code()[At]));
    if (NewValue[At] || !Slice.keeps(At))
      Text.remove(At);
  }
  return Text.finish(Entry, NewName);
}

} // namespace

Expected<std::string> carve::memoryOnly(const PtxModule &M, StringRef Entry, StringRef NewName) {
  auto Refuse = [](const Twine &Why) { return unsupported("memory-only", Why); };
  auto Kernel = readForModification(M, Entry);
  if (!Kernel)
    return Kernel.takeError();
  std::string Why = Kernel->WhyNot;
  if (!Why.empty())
    return Refuse(Why);
  MemoryWriter Writer(M, Kernel->Definition, Kernel->Flow);
  Why = Writer.whyNot();
  if (!Why.empty())
    return Refuse(Why);
  return Writer.write(Entry, NewName);
}
