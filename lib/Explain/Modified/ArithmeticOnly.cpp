// A loaded value is replaced by a value made from the address. This costs almost nothing, because
// the address is computed anyway. It differs in each thread and iteration, as the address does, so
// that ptxas cannot compute anything ahead or once for all threads. It cannot be folded, because
// each load takes other bits of the address. Floating-point values lie between 1 and 2, where no
// operation takes a slow path; but the code of the slow paths has to stay, as it does in the
// kernel.

#include "Explain/Modified/ArithmeticOnly.h"

#include "Explain/Modified/ModifiedText.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace carve;
using namespace llvm;

namespace {

/// How a loaded register is used.
enum class ValueKind { Integer, Half, HalfPair, BrainPair, Float, Double };

/// Returns bits that differ from one number to the next.
uint32_t scattered(unsigned Number) { return (Number + 1) * 0x9e3779b1u; }

/// Writes the arithmetic-only version of one entry.
class ArithmeticWriter {
public:
  ArithmeticWriter(const RegisterFlow &Flow, const CalleeTraits &Callees, StringRef Definition)
      : Flow(Flow), Callees(Callees), Text(Definition, Flow), Data(Flow.registers().size()) {}
  std::string whyNot();
  Expected<std::string> write(StringRef Entry, StringRef NewName);

private:
  /// Sets Data and SharedHasData, by a fixed point over all instructions.
  void findData();
  bool dataGoesIn(size_t At) const;
  std::string whyNot(size_t At) const;
  bool isTraffic(const PtxStep &S) const {
    return S.Space == PtxSpace::Global || S.Space == PtxSpace::Local;
  }
  ValueKind kindOf(unsigned Register, const PtxInstruction &Load, unsigned Steps = 3) const;
  std::string lowWord(const PtxOperand &Address) const;
  std::string one(uint32_t Bits);
  std::string made(unsigned Register, const PtxInstruction &Load, unsigned Number);
  void replaceLoad(size_t At);
  void foldStore(size_t At);

  const RegisterFlow &Flow;
  const CalleeTraits &Callees;
  ModifiedText Text;
  std::vector<bool> Data; ///< By register: true if it depends on a loaded value.
  bool SharedHasData = false;
  unsigned Loads = 0;
  std::set<uint32_t> Ones; ///< The constants that are already declared.
};

/// True if a loaded value is read by instruction \p At, or by any part of the call that it belongs
/// to.
bool ArithmeticWriter::dataGoesIn(size_t At) const {
  const PtxStep &S = Flow.steps()[At];
  auto Reads = [&](const PtxStep &Step) {
    return any_of(Step.Reads, [&](unsigned R) { return Data[R]; });
  };
  if (S.Action != PtxAction::Call)
    return Reads(S);
  return any_of(Flow.steps(), [&](const PtxStep &Other) {
    return Other.Action == PtxAction::Call && Other.Call == S.Call && Reads(Other);
  });
}

void ArithmeticWriter::findData() {
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (auto [At, S] : enumerate(Flow.steps())) {
      bool Loads = S.Action == PtxAction::Load && isTraffic(S);
      bool Shared = S.Space == PtxSpace::Shared && SharedHasData;
      bool In = Loads || Shared || S.Action == PtxAction::Copy || dataGoesIn(At);
      bool ToShared = S.Action == PtxAction::Copy ||
                      (S.Space == PtxSpace::Shared && S.Action != PtxAction::Load);
      if (!In)
        continue;
      Changed |= ToShared && !std::exchange(SharedHasData, true);
      for (unsigned R : S.Writes)
        if (!Data[R])
          Data[R] = Changed = true;
    }
  }
}

std::string ArithmeticWriter::whyNot(size_t At) const {
  const PtxStep &S = Flow.steps()[At];
  bool DataInPlace = any_of(S.Where, [&](unsigned R) { return Data[R]; });
  if (S.Space == PtxSpace::Texture)
    return "it reads textures";
  if (S.Action == PtxAction::Control && dataGoesIn(At))
    return Flow.code()[At].Opcode == "bra" || Flow.code()[At].Opcode == "brx"
               ? "its branches depend on what it loads"
               : "its barriers or its end depend on what it loads";
  if ((S.Space == PtxSpace::Shared || S.Action == PtxAction::Parameter) && DataInPlace)
    return "addresses of shared memory or of constants depend on what it loads";
  if (S.Action == PtxAction::Call && Callees.Branch && dataGoesIn(At))
    return "functions that it calls may branch on what it loads";
  return "";
}

std::string ArithmeticWriter::whyNot() {
  findData();
  for (size_t At = 0; At < Flow.steps().size(); ++At)
    if (std::string Why = whyNot(At); !Why.empty())
      return Why;
  return "";
}

ValueKind kindOfType(StringRef Type, unsigned Bits) {
  if (Type == ".f64")
    return ValueKind::Double;
  if ((Type == ".f32" || Type == ".tf32") && Bits == 32)
    return ValueKind::Float;
  if (Type.starts_with(".bf16") && Bits == 32)
    return ValueKind::BrainPair;
  if (Type.starts_with(".f16") && Bits == 32)
    return ValueKind::HalfPair;
  if (Type == ".f16" && Bits == 16)
    return ValueKind::Half;
  return ValueKind::Integer;
}

bool isType(StringRef Modifier) {
  static const StringRef Types[] = {".f16", ".f16x2", ".bf16", ".bf16x2", ".tf32",  ".f32",
                                    ".f64", ".b8",    ".b16",  ".b32",    ".b64",   ".u8",
                                    ".u16", ".u32",   ".u64",  ".s8",     ".s16",   ".s32",
                                    ".s64", ".e4m3",  ".e5m2", ".e4m3x2", ".e5m2x2"};
  return is_contained(Types, Modifier);
}

/// Derives the kind from the type of the load, of the register, or of what uses the register. The
/// uses matter because newer compilers load everything as `.b32`.
ValueKind ArithmeticWriter::kindOf(unsigned Register, const PtxInstruction &Load,
                                   unsigned Steps) const {
  const PtxRegister &R = Flow.registers()[Register];
  for (StringRef Modifier : Load.Modifiers)
    if (ValueKind K = kindOfType(Modifier, R.bits()); K != ValueKind::Integer)
      return K;
  if (ValueKind K = kindOfType(R.Type, R.bits()); K != ValueKind::Integer)
    return K;
  for (size_t Reader : R.Readers) {
    const PtxInstruction &I = Flow.code()[Reader];
    const PtxStep &S = Flow.steps()[Reader];
    ValueKind K = ValueKind::Integer;
    if (I.Opcode == "mov" && S.Writes.size() == 1 && Steps > 0)
      K = kindOf(S.Writes[0], I, Steps - 1);
    else if (S.Action == PtxAction::Compute)
      // The last type of a conversion is that of the source.
      for (StringRef Modifier : I.Modifiers)
        K = isType(Modifier) ? kindOfType(Modifier, R.bits()) : K;
    if (K != ValueKind::Integer)
      return K;
  }
  return ValueKind::Integer;
}

/// Returns statements that put the low 32 bits of an address into `%carve_t`.
std::string ArithmeticWriter::lowWord(const PtxOperand &Address) const {
  auto Register = Flow.find(Address.name());
  std::string Name = Address.name().str();
  if (Register && Flow.registers()[*Register].bits() == 32)
    return "mov.b32 %carve_t, " + Name + ";\n\t";
  std::string Wide = Register ? "" : "mov.u64 %carve_d, " + Name + ";\n\t";
  return Wide + "cvt.u32.u64 %carve_t, " + (Register ? Name : "%carve_d") + ";\n\t";
}

/// Returns the register that holds \p Bits, the exponent of a word or of its two halves. ptxas must
/// not know the value, because it would then remove code that other exponents need. So the value is
/// computed from `%nctaid.z`: its upper half is always zero, because a grid has fewer than 65536
/// blocks in z, but ptxas does not know that.
std::string ArithmeticWriter::one(uint32_t Bits) {
  std::string Name = formatv("%carve_one_{0:x-}", Bits).str();
  if (Ones.insert(Bits).second)
    Text.atStart(formatv("\n\t.reg .b32 {0};\n\tmov.u32 {0}, %nctaid.z;\n\t"
                         "and.b32 {0}, {0}, 0xffff0000;\n\txor.b32 {0}, {0}, {1:x};",
                         Name, Bits)
                     .str());
  return Name;
}

/// Returns statements that give \p Register a value made from `%carve_t`.
std::string ArithmeticWriter::made(unsigned Register, const PtxInstruction &Load, unsigned Number) {
  const PtxRegister &R = Flow.registers()[Register];
  std::string Predicate = predicateOf(Load);
  auto Within = [&](uint32_t Mantissa, uint32_t One) {
    uint32_t Mask = Mantissa & ~(scattered(Number) >> 12 & 0x7fffc & (Mantissa >> 1));
    return formatv("and.b32 %carve_u, %carve_t, {0:x};\n\tor.b32 %carve_u, %carve_u, {1};\n\t",
                   Mask, one(One))
        .str();
  };
  auto Move = [&](StringRef Type, StringRef From) {
    return Predicate + "mov." + Type.str() + " " + R.Name + ", " + From.str() + ";\n\t";
  };
  auto Narrow = [&] { return "cvt.u16.u32 %carve_h, %carve_u;\n\t" + Move("b16", "%carve_h"); };
  switch (kindOf(Register, Load)) {
  case ValueKind::Double:
    return Within(0xfffff, 0x3ff00000) + "mov.b64 %carve_d, {%carve_t, %carve_u};\n\t" +
           Move("b64", "%carve_d");
  case ValueKind::Float:
    return Within(0x7fffff, 0x3f800000) + Move("b32", "%carve_u");
  case ValueKind::HalfPair:
    return Within(0x03ff03ff, 0x3c003c00) + Move("b32", "%carve_u");
  case ValueKind::BrainPair:
    return Within(0x007f007f, 0x3f803f80) + Move("b32", "%carve_u");
  case ValueKind::Half:
    return Within(0x03ff, 0x3c00) + Narrow();
  case ValueKind::Integer:
    break;
  }
  auto Elements = unsigned(Load.Operands.front().Names.size());
  unsigned Bits = std::min(R.bits(), 8 * Load.accessBytes() / Elements);
  std::string Word = formatv("xor.b32 %carve_u, %carve_t, {0:x};\n\t", scattered(Number)).str();
  if (Bits < 32)
    Word += formatv("and.b32 %carve_u, %carve_u, {0};\n\t", (1u << Bits) - 1).str();
  if (R.bits() == 16)
    return Word + Narrow();
  if (R.bits() == 32)
    return Word + Move("b32", "%carve_u");
  return Word +
         (Bits < 64 ? "cvt.u64.u32 %carve_d, %carve_u;\n\t"
                    : "mov.b64 %carve_d, {%carve_t, %carve_u};\n\t") +
         Move("b64", "%carve_d");
}

void ArithmeticWriter::replaceLoad(size_t At) {
  const PtxInstruction &I = Flow.code()[At];
  auto Address = find_if(I.Operands, [](const PtxOperand &O) { return O.IsAddress; });
  Text.remove(At);
  std::string New = lowWord(*Address);
  for (StringRef Name : I.Operands.front().Names)
    if (auto Register = Flow.find(Name))
      New += made(*Register, I, Loads++);
  Text.before(At, New);
}

/// Replaces a store by folding its address and its value into the accumulator. The address is
/// folded because computing it is a part of the kernel's arithmetic.
void ArithmeticWriter::foldStore(size_t At) {
  const PtxInstruction &I = Flow.code()[At];
  std::string Predicate = predicateOf(I);
  Text.remove(At);
  Text.before(At, lowWord(I.Operands.front()) + ModifiedText::foldWord("%carve_t", Predicate));
  for (const PtxOperand &O : ArrayRef(I.Operands).slice(1, 1))
    for (StringRef Name : O.Names)
      if (auto Register = Flow.find(Name))
        Text.before(At, Text.fold(*Register, Predicate));
}

Expected<std::string> ArithmeticWriter::write(StringRef Entry, StringRef NewName) {
  for (auto [At, S] : enumerate(Flow.steps())) {
    if (S.Action == PtxAction::Copy || S.Action == PtxAction::Hint || S.Action == PtxAction::Order)
      Text.remove(At);
    else if (S.Action == PtxAction::Load && isTraffic(S))
      replaceLoad(At);
    else if (S.Action == PtxAction::Store && isTraffic(S))
      foldStore(At);
  }
  Text.guardExits({});
  return Text.finish(Entry, NewName);
}

} // namespace

Expected<std::string> carve::arithmeticOnly(const PtxModule &M, StringRef Entry,
                                            StringRef NewName) {
  auto Kernel = readForModification(M, Entry);
  if (!Kernel)
    return Kernel.takeError();
  std::string Why = Kernel->WhyNot;
  ArithmeticWriter Writer(Kernel->Flow, Kernel->Callees, Kernel->Definition);
  if (Why.empty())
    Why = Writer.whyNot();
  if (!Why.empty())
    return unsupported("arithmetic-only", Why);
  return Writer.write(Entry, NewName);
}
