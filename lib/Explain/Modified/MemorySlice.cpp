#include "Explain/Modified/MemorySlice.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;
using namespace llvm;

/// True for traffic between the chip and memory. Shared memory is on the chip.
static bool isTraffic(const PtxStep &S) {
  return S.Space == PtxSpace::Global || S.Space == PtxSpace::Local || S.Space == PtxSpace::Texture;
}

MemorySlice::MemorySlice(const RegisterFlow &Flow) : Flow(Flow) {
  addIdle(std::nullopt);
  do
    slice();
  while (dropBusy());
  findLoaded();
}

/// True if \p Instruction is in the slice for its own sake.
bool MemorySlice::isRoot(size_t Instruction) const {
  const PtxStep &S = Flow.steps()[Instruction];
  if (InIdle[Instruction])
    return false;
  if (S.Action == PtxAction::Control || S.Action == PtxAction::Order ||
      S.Action == PtxAction::Copy || S.Action == PtxAction::Hint)
    return true;
  return (S.Action == PtxAction::Load || S.Action == PtxAction::Store) && isTraffic(S);
}

void MemorySlice::keep(size_t Instruction, bool Values) {
  const PtxStep &S = Flow.steps()[Instruction];
  if (Kept[Instruction] && (!Values || WithValues[Instruction]))
    return;
  Kept[Instruction] = true;
  WithValues[Instruction] = WithValues[Instruction] || Values;
  for (unsigned R : Values ? S.Reads : S.Where)
    need(R);
  if (S.Action != PtxAction::Call)
    return;
  for (auto [Other, Step] : enumerate(Flow.steps()))
    if (Step.Action == PtxAction::Call && Step.Call == S.Call)
      keep(Other, true);
}

void MemorySlice::need(unsigned Register) {
  if (Needed[Register])
    return;
  Needed[Register] = true;
  Pending.push_back(Register);
}

/// Keeps all writes to shared memory, because shared memory holds an address, and it is not known
/// which of the stores wrote it.
void MemorySlice::keepShared() {
  if (std::exchange(SharedKept, true))
    return;
  for (auto [At, S] : enumerate(Flow.steps()))
    if (S.Space == PtxSpace::Shared && S.Action != PtxAction::Load)
      keep(At, true);
}

void MemorySlice::keepLocal() {
  if (std::exchange(LocalKept, true))
    return;
  for (auto [At, S] : enumerate(Flow.steps()))
    if (S.Space == PtxSpace::Local && S.Action == PtxAction::Store)
      keep(At, true);
}

void MemorySlice::slice() {
  size_t Count = Flow.steps().size();
  Kept.assign(Count, false);
  WithValues.assign(Count, false);
  Needed.assign(Flow.registers().size(), false);
  Deciding.clear();
  SharedKept = LocalKept = false;
  for (size_t I = 0; I < Count; ++I)
    if (isRoot(I))
      keep(I, Flow.steps()[I].Action != PtxAction::Store);
  while (!Pending.empty()) {
    const PtxRegister &R = Flow.registers()[Pending.back()];
    Pending.pop_back();
    for (size_t Writer : R.Writers) {
      const PtxStep &S = Flow.steps()[Writer];
      keep(Writer, true);
      if (S.Space == PtxSpace::Shared)
        keepShared();
      else if (S.Space == PtxSpace::Local)
        keepLocal();
      else if (S.Space == PtxSpace::Global && !is_contained(Deciding, Writer))
        Deciding.push_back(Writer);
    }
  }
}

/// Returns the one block after \p Loop, if there is only one and nothing in the loop has an effect
/// beyond registers and shared memory.
std::optional<unsigned> MemorySlice::exitOf(unsigned Loop) const {
  std::optional<unsigned> Exit;
  const ControlFlow &F = Flow.flow();
  for (unsigned Block : F.Loops[Loop].Blocks) {
    for (size_t I = F.Blocks[Block].First; I < F.Blocks[Block].Last; ++I) {
      const PtxStep &S = Flow.steps()[I];
      bool Branches = Flow.code()[I].Opcode == "bra" || Flow.code()[I].Opcode == "brx";
      bool Idles = S.Action == PtxAction::Compute || S.Action == PtxAction::Parameter ||
                   S.Action == PtxAction::Call || Branches ||
                   (S.Space == PtxSpace::Shared && S.Action != PtxAction::Copy);
      if (!Idles)
        return std::nullopt;
    }
    for (unsigned Next : F.Blocks[Block].Successors) {
      if (F.contains(Loop, Next))
        continue;
      if (Exit && *Exit != Next)
        return std::nullopt;
      Exit = Next;
    }
  }
  const FlowBlock &Header = F.Blocks[F.Loops[Loop].Header];
  bool Places = Exit && Header.First < Header.Last && F.Blocks[*Exit].First < F.Blocks[*Exit].Last;
  return Places ? Exit : std::nullopt;
}

/// Adds the outermost loops below \p Parent in which nothing has an effect.
void MemorySlice::addIdle(std::optional<unsigned> Parent) {
  const ControlFlow &F = Flow.flow();
  InIdle.resize(Flow.steps().size());
  for (unsigned L = 0; L < F.Loops.size(); ++L) {
    if (F.Loops[L].Parent != Parent)
      continue;
    std::optional<unsigned> Exit = exitOf(L);
    if (!Exit) {
      addIdle(L);
      continue;
    }
    Idle.push_back({L, *Exit});
    markIdle(L, true);
  }
}

void MemorySlice::markIdle(unsigned Loop, bool IsIdle) {
  for (unsigned Block : Flow.flow().Loops[Loop].Blocks)
    for (size_t I = Flow.flow().Blocks[Block].First; I < Flow.flow().Blocks[Block].Last; ++I)
      InIdle[I] = IsIdle;
}

bool MemorySlice::keepsAny(unsigned Loop) const {
  for (unsigned Block : Flow.flow().Loops[Loop].Blocks)
    for (size_t I = Flow.flow().Blocks[Block].First; I < Flow.flow().Blocks[Block].Last; ++I)
      if (Kept[I])
        return true;
  return false;
}

/// Removes the loops in which something is kept after all, because code after them needs it. Adds
/// their inner loops instead. Returns whether there were any.
bool MemorySlice::dropBusy() {
  std::vector<unsigned> Busy;
  for (const IdleLoop &L : Idle)
    if (keepsAny(L.Loop))
      Busy.push_back(L.Loop);
  erase_if(Idle, [&](const IdleLoop &L) { return is_contained(Busy, L.Loop); });
  for (unsigned L : Busy) {
    markIdle(L, false);
    addIdle(L);
  }
  return !Busy.empty();
}

/// True if \p Instruction moves a register that may hold a loaded value, or a constant. \p
/// FromLoaded is set for such a register.
bool MemorySlice::isCopy(size_t Instruction, bool &FromLoaded) const {
  const PtxInstruction &I = Flow.code()[Instruction];
  const PtxStep &S = Flow.steps()[Instruction];
  if (I.Opcode != "mov" || !I.Predicate.empty() || S.Writes.size() != 1 || S.Reads.size() > 1 ||
      I.Operands[0].Names.size() != 1 || I.Operands[1].Names.size() != 1)
    return false;
  if (S.Reads.empty())
    return !I.Operands[1].name().starts_with("%");
  FromLoaded = Loaded[S.Reads[0]];
  return FromLoaded;
}

/// Finds the registers that hold loaded values. A value that is loaded ahead for a later iteration
/// passes through moves. These moves stay, so that the version waits for the value no earlier than
/// the kernel does.
void MemorySlice::findLoaded() {
  auto Gives = [&](size_t I) {
    const PtxStep &S = Flow.steps()[I];
    return S.Action == PtxAction::Load && isTraffic(S);
  };
  Loaded.assign(Flow.registers().size(), true);
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (auto [Number, R] : enumerate(Flow.registers())) {
      if (!Loaded[Number])
        continue;
      bool Any = false;
      bool All = all_of(R.Writers, [&](size_t W) {
        bool FromLoaded = false;
        bool Right = Gives(W) || isCopy(W, FromLoaded);
        Any |= Gives(W) || FromLoaded;
        return Right && !InIdle[W];
      });
      if (!All || !Any) {
        Loaded[Number] = false;
        Changed = true;
      }
    }
  }
  Constant.assign(Flow.registers().size(), false);
  for (auto [Number, R] : enumerate(Flow.registers())) {
    Constant[Number] = !R.Writers.empty() && all_of(R.Writers, [&](size_t W) {
      bool FromLoaded = false;
      return isCopy(W, FromLoaded) && Flow.steps()[W].Reads.empty() && !InIdle[W];
    });
    for (size_t W : R.Writers)
      if (Loaded[Number] || Constant[Number])
        Kept[W] = true;
  }
}

bool MemorySlice::keepsValue(size_t Store) const {
  const PtxStep &S = Flow.steps()[Store];
  return WithValues[Store] || all_of(S.Reads, [&](unsigned R) {
           return Needed[R] || Loaded[R] || Constant[R] || is_contained(S.Where, R);
         });
}

std::vector<bool> MemorySlice::dataDependent() const {
  std::vector<bool> Data(Flow.registers().size()), Depends(Flow.steps().size());
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (auto [At, S] : enumerate(Flow.steps())) {
      bool Loads = S.Action == PtxAction::Load;
      if (Depends[At] || (!Loads && none_of(S.Reads, [&](unsigned R) { return Data[R]; })))
        continue;
      Depends[At] = Changed = true;
      for (unsigned R : S.Writes)
        Data[R] = true;
    }
  }
  return Depends;
}

static bool isFloat(const PtxInstruction &I) {
  return I.Opcode == "mma" || I.Opcode == "wmma" || any_of(I.Modifiers, [](StringRef M) {
           return M.starts_with(".f16") || M.starts_with(".bf16") || M == ".f32" || M == ".f64";
         });
}

/// True for the arithmetic of addresses, counters and conversions, and false for that of data.
static bool isBookkeeping(const PtxInstruction &I) {
  return is_contained({"mov", "add", "sub", "setp", "cvt", "cvta", "selp", "shl", "mad", "min",
                       "max", "and", "or", "not"},
                      I.Opcode) ||
         I.has(".wide");
}

double MemorySlice::inseparable() const {
  std::vector<bool> Depends = dataDependent();
  double All[2] = {}, Bound[2] = {};
  for (auto [At, I] : enumerate(Flow.code())) {
    bool Float = isFloat(I);
    if (Flow.steps()[At].Action != PtxAction::Compute || I.Opcode == "mov" ||
        (!Float && isBookkeeping(I)))
      continue;
    double Weight = 1;
    for (unsigned D = std::min(Flow.depthOf(At), 6u); D > 0; --D)
      Weight *= 8;
    All[Float] += Weight;
    Bound[Float] += Kept[At] && Depends[At] ? Weight : 0;
  }
  unsigned Which = All[1] > 0;
  return All[Which] > 0 ? Bound[Which] / All[Which] : 0;
}
