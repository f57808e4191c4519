#include "Cubin/MachineCode.h"

#include "Cubin/CubinElf.h"
#include "Cubin/CubinInfo.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

#include <map>
#include <set>

using namespace carve;
using namespace llvm;
using Kind = MachineInstruction::KindTy;

namespace {

constexpr unsigned InstructionBytes = 16;
/// Architectures whose code was examined. 87, 88, 103, 110 and 121 belong to the same generations.
constexpr unsigned KnownArchitectures[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

struct Operation {
  unsigned Number;
  Kind What;
};

constexpr Operation Operations[] = {
    {0x180, MachineInstruction::GlobalLoad},     // LD
    {0x181, MachineInstruction::GlobalLoad},     // LDG
    {0x17e, MachineInstruction::GlobalLoad},     // LDG of 32 bytes, from sm_100 on
    {0x185, MachineInstruction::GlobalStore},    // ST
    {0x186, MachineInstruction::GlobalStore},    // STG
    {0x17f, MachineInstruction::GlobalStore},    // STG of 32 bytes
    {0x18a, MachineInstruction::GlobalAtomic},   // ATOM
    {0x18b, MachineInstruction::GlobalAtomic},   // ATOM.CAS
    {0x1a2, MachineInstruction::GlobalAtomic},   // ATOM of floating point, from sm_90 on
    {0x1a3, MachineInstruction::GlobalAtomic},   // ATOMG of floating point
    {0x1a8, MachineInstruction::GlobalAtomic},   // ATOMG
    {0x1a9, MachineInstruction::GlobalAtomic},   // ATOMG.CAS
    {0x18e, MachineInstruction::GlobalAtomic},   // RED
    {0x1a6, MachineInstruction::GlobalAtomic},   // REDG of floating point
    {0x1ae, MachineInstruction::GlobalToShared}, // LDGSTS
    {0x183, MachineInstruction::LocalLoad},      // LDL
    {0x187, MachineInstruction::LocalStore},     // STL
    {0x184, MachineInstruction::SharedLoad},     // LDS
    {0x03b, MachineInstruction::SharedLoad},     // LDSM
    {0x188, MachineInstruction::SharedStore},    // STS
    {0x18c, MachineInstruction::SharedAtomic},   // ATOMS
    {0x18d, MachineInstruction::SharedAtomic},   // ATOMS.CAS
    {0x160, MachineInstruction::GlobalLoad},     // TEX
    {0x163, MachineInstruction::GlobalLoad},     // TLD4
    {0x166, MachineInstruction::GlobalLoad},     // TLD
    {0x199, MachineInstruction::GlobalLoad},     // SULD
    {0x19d, MachineInstruction::GlobalStore},    // SUST
    {0x11d, MachineInstruction::Barrier},        // BAR
    {0x118, MachineInstruction::Nop},            // NOP
    {0x147, MachineInstruction::Branch},         // BRA
    {0x149, MachineInstruction::IndirectBranch}, // BRX
    {0x144, MachineInstruction::Call},           // CALL.REL
    {0x143, MachineInstruction::Call},           // CALL.ABS
    {0x14d, MachineInstruction::Exit},           // EXIT
    {0x150, MachineInstruction::Return},         // RET
};

struct Arithmetic {
  unsigned Number;
  MachineInstruction::PipeTy Pipe;
  bool IsFloat; ///< See MachineInstruction::IsFloat.
};

/// The pipes follow the table of throughputs in the CUDA programming guide, by the names of
/// nvdisasm.
constexpr Arithmetic Pipes[] = {
    {0x020, MachineInstruction::Fp32, true},             // FMUL
    {0x021, MachineInstruction::Fp32, true},             // FADD
    {0x023, MachineInstruction::Fp32, true},             // FFMA
    {0x030, MachineInstruction::Fp32, true},             // HADD2
    {0x031, MachineInstruction::Fp32, true},             // HFMA2
    {0x032, MachineInstruction::Fp32, true},             // HMUL2
    {0x034, MachineInstruction::Integer, true},          // HSETP2
    {0x040, MachineInstruction::Integer, true},          // HMNMX2
    {0x024, MachineInstruction::IntegerMultiply, false}, // IMAD
    {0x025, MachineInstruction::IntegerMultiply, false}, // IMAD.WIDE
    {0x026, MachineInstruction::IntegerMultiply, false}, // IDP
    {0x027, MachineInstruction::IntegerMultiply, false}, // IMAD.HI
    {0x007, MachineInstruction::Integer, false},         // SEL
    {0x008, MachineInstruction::Integer, true},          // FSEL
    {0x009, MachineInstruction::Integer, true},          // FMNMX
    {0x00b, MachineInstruction::Integer, true},          // FSETP
    {0x00c, MachineInstruction::Integer, false},         // ISETP
    {0x010, MachineInstruction::Integer, false},         // IADD3
    {0x011, MachineInstruction::Integer, false},         // LEA
    {0x012, MachineInstruction::Integer, false},         // LOP3
    {0x013, MachineInstruction::Integer, false},         // IABS
    {0x016, MachineInstruction::Integer, false},         // PRMT
    {0x017, MachineInstruction::Integer, false},         // IMNMX
    {0x019, MachineInstruction::Integer, false},         // SHF
    {0x036, MachineInstruction::Integer, false},         // VIADD
    {0x046, MachineInstruction::Integer, false},         // VIADDMNMX
    {0x048, MachineInstruction::Integer, false},         // VIMNMX
    {0x028, MachineInstruction::Fp64, true},             // DMUL
    {0x029, MachineInstruction::Fp64, true},             // DADD
    {0x02a, MachineInstruction::Fp64, true},             // DSETP
    {0x02b, MachineInstruction::Fp64, true},             // DFMA
    {0x100, MachineInstruction::Special, false},         // FLO
    {0x101, MachineInstruction::Special, false},         // BREV
    {0x105, MachineInstruction::Special, false},         // F2I
    {0x106, MachineInstruction::Special, false},         // I2F
    {0x107, MachineInstruction::Special, false},         // FRND
    {0x108, MachineInstruction::Special, true},          // MUFU
    {0x109, MachineInstruction::Special, false},         // POPC
    {0x110, MachineInstruction::Special, false},         // F2F
    {0x111, MachineInstruction::Special, false},         // F2I of 64 bits
    {0x112, MachineInstruction::Special, false},         // I2F of 64 bits
    {0x037, MachineInstruction::Tensor, true},           // IMMA
    {0x03c, MachineInstruction::Tensor, true},           // HMMA
    {0x03f, MachineInstruction::Tensor, true},           // DMMA
    {0x1f0, MachineInstruction::Tensor, false},          // HGMMA
};
constexpr unsigned HalfFma = 0x031, ZeroRegister = 255;

/// The 128 bits of an instruction.
struct Encoding {
  uint64_t Low, High;
  /// Returns \p Width bits from bit \p First on.
  uint64_t field(unsigned First, unsigned Width) const {
    uint64_t Bits = First >= 64  ? High >> (First - 64)
                    : First == 0 ? Low
                                 : Low >> First | High << (64 - First);
    return Width == 64 ? Bits : Bits & ((uint64_t(1) << Width) - 1);
  }
};

/// The form of operands in which CALL and BRX take their target from a register.
constexpr unsigned FormRegister = 1;
constexpr unsigned FormUniform = 2;
constexpr unsigned Always = 7, NoScoreboard = 7;

/// Returns where an indirect branch at \p Address may lead. ptxas lists the targets in the kernel's
/// attributes.
std::vector<uint64_t> indirectTargets(const CubinElf &Elf, StringRef Function, uint64_t Address) {
  std::vector<uint64_t> Targets;
  const CubinSection *Section = Elf.section(".nv.info." + Function);
  if (!Section)
    return Targets;
  auto Word = [](StringRef Bytes, size_t Index) {
    return support::endian::read32le(Bytes.data() + 4 * Index);
  };
  forEachInfo(Section->Bytes, [&](const CubinInfo &Info) {
    if (Info.Attribute != AttrIndirectBranchTargets)
      return;
    // A record has the branch, zero, the number of targets, and the targets.
    size_t Words = Info.Payload.size() / 4;
    for (size_t At = 0; At + 3 <= Words; At += 3 + Word(Info.Payload, At + 2)) {
      size_t Count = std::min<size_t>(Word(Info.Payload, At + 2), Words - At - 3);
      for (size_t I = 0; Word(Info.Payload, At) == Address && I < Count; ++I)
        Targets.push_back(Word(Info.Payload, At + 3 + I));
    }
  });
  return Targets;
}

int64_t branchOffset(const Encoding &E, unsigned SmVersion) {
  if (SmVersion < 90)
    return SignExtend64<50>(E.field(32, 50));
  return SignExtend64<56>(E.field(34, 48) << 8 | E.field(16, 8)) * 4;
}

unsigned accessBytes(Kind What, unsigned Number, const Encoding &E) {
  constexpr unsigned ByWidth[] = {1, 1, 2, 2, 4, 8, 16, 0};
  if (Number == 0x17e || Number == 0x17f)
    return 32;
  // The width of LDSM is its number of matrices, of which a thread gets four bytes each. For
  // textures four bytes are assumed.
  if (Number == 0x03b || (Number >= 0x160 && Number <= 0x166))
    return 4;
  switch (What) {
  case MachineInstruction::GlobalLoad:
  case MachineInstruction::GlobalStore:
  case MachineInstruction::GlobalToShared:
  case MachineInstruction::LocalLoad:
  case MachineInstruction::LocalStore:
  case MachineInstruction::SharedLoad:
  case MachineInstruction::SharedStore:
    return ByWidth[E.field(73, 3)];
  case MachineInstruction::GlobalAtomic:
  case MachineInstruction::SharedAtomic:
    return 4; // Most access 4 bytes; the type has another code for each operation.
  default:
    return 0;
  }
}

MachineInstruction decode(const Encoding &E, uint64_t Address, unsigned SmVersion) {
  MachineInstruction I;
  I.Address = Address;
  unsigned Number = E.field(0, 9), Form = E.field(9, 3);
  const auto *Known = find_if(Operations, [&](const Operation &O) { return O.Number == Number; });
  if (Known != std::end(Operations))
    I.Kind = Known->What;
  I.Swaps = is_contained({0x18b, 0x18d, 0x1a9}, Number);
  const auto *Its = find_if(Pipes, [&](const Arithmetic &A) { return A.Number == Number; });
  if (Its != std::end(Pipes)) {
    I.Pipe = Its->Pipe;
    I.IsFloat = Its->IsFloat && !(Number == HalfFma && E.field(24, 8) == ZeroRegister);
  }
  I.Bytes = accessBytes(I.Kind, Number, E);
  I.Conditional = E.field(12, 3) != Always || E.field(15, 1);
  I.WaitsFor = E.field(116, 6);
  if (unsigned Sets = E.field(110, 3); Sets != NoScoreboard)
    I.SetsScoreboard = Sets;
  if (I.Kind == MachineInstruction::Branch) {
    I.Conditional |= Form == FormUniform || E.field(87, 3) != Always || E.field(90, 1);
    I.Target = Address + InstructionBytes + branchOffset(E, SmVersion);
  }
  if (I.Kind == MachineInstruction::Call) {
    if (Form == FormRegister)
      I.Kind = MachineInstruction::IndirectCall;
    else if (Number == 0x144)
      I.Target = Address + InstructionBytes + branchOffset(E, SmVersion);
  }
  return I;
}

class CodeReader {
public:
  explicit CodeReader(const CubinElf &Elf) : Elf(Elf), SmVersion(Elf.Header.e_flags >> 8 & 0xff) {}
  Expected<std::vector<MachineFunction>> run(StringRef Kernel);

private:
  using Code = std::vector<MachineInstruction>;
  Expected<Code> readSection(StringRef Function) const;
  void nameCallees(StringRef Function, Code &Instructions) const;
  Error makeFlow(MachineFunction &F) const;
  Error addSuccessors(const MachineFunction &F, FlowBlock &B,
                      const std::map<uint64_t, unsigned> &BlockAt) const;

  const CubinElf &Elf;
  unsigned SmVersion;
};

/// Names the callees in other sections. The linker or the loader fills in their addresses, and
/// knows them by relocations.
void CodeReader::nameCallees(StringRef Function, Code &Instructions) const {
  for (StringRef Prefix : {".rela.text.", ".rel.text."}) {
    const CubinSection *Section = Elf.section(Prefix + Function);
    if (!Section)
      continue;
    size_t EntryBytes = Section->Header->sh_entsize;
    for (size_t At = 0; EntryBytes >= 16 && At + EntryBytes <= Section->Bytes.size();
         At += EntryBytes) {
      const char *P = Section->Bytes.data() + At;
      uint64_t Index = support::endian::read64le(P) / InstructionBytes;
      uint64_t Symbol = support::endian::read64le(P + 8) >> 32;
      if (Index >= Instructions.size() || Symbol >= Elf.Symbols.size())
        continue;
      MachineInstruction &I = Instructions[Index];
      if (I.Kind != MachineInstruction::Call)
        continue;
      I.Callee = Elf.Symbols[Symbol].Name.str();
      I.Target.reset();
    }
  }
}

Expected<CodeReader::Code> CodeReader::readSection(StringRef Function) const {
  const CubinSection *Section = Elf.section(".text." + Function);
  if (!Section)
    return malformed("cubin: no code of " + Function);
  if (Section->Bytes.size() % InstructionBytes)
    return unsupported("machine-code", "the code of " + Function + " has " +
                                           Twine(Section->Bytes.size()) +
                                           " bytes, expected a multiple of 16");
  Code Result;
  for (size_t At = 0; At < Section->Bytes.size(); At += InstructionBytes) {
    const char *P = Section->Bytes.data() + At;
    Result.push_back(
        decode({support::endian::read64le(P), support::endian::read64le(P + 8)}, At, SmVersion));
  }
  nameCallees(Function, Result);
  for (const MachineInstruction &I : Result)
    if (I.Target && (*I.Target % InstructionBytes || *I.Target >= Section->Bytes.size()))
      return unsupported("machine-code", Function + ": a branch at " + Twine(I.Address) +
                                             " leads to " + Twine(int64_t(*I.Target)) +
                                             ", expected an instruction of its " +
                                             Twine(Section->Bytes.size()) + " bytes");
  return Result;
}

bool endsBlock(const MachineInstruction &I) {
  switch (I.Kind) {
  case MachineInstruction::Branch:
  case MachineInstruction::IndirectBranch:
  case MachineInstruction::Return:
  case MachineInstruction::Exit:
    return true;
  default:
    return false;
  }
}

Error CodeReader::addSuccessors(const MachineFunction &F, FlowBlock &B,
                                const std::map<uint64_t, unsigned> &BlockAt) const {
  const MachineInstruction &Last = F.Code[B.Last - 1];
  B.EndsAtOnce = B.Last - B.First == 1 && !Last.Conditional &&
                 (Last.Kind == MachineInstruction::Exit || Last.Kind == MachineInstruction::Return);
  auto Add = [&](size_t Index) {
    if (unsigned Block = BlockAt.at(Index); !is_contained(B.Successors, Block))
      B.Successors.push_back(Block);
  };
  if (Last.Kind == MachineInstruction::Branch)
    Add(*Last.Target / InstructionBytes);
  if (Last.Kind == MachineInstruction::IndirectBranch)
    for (uint64_t Target : indirectTargets(Elf, F.Section, Last.Address)) {
      if (!BlockAt.count(Target / InstructionBytes))
        return unsupported("machine-code", F.Section + ": an indirect branch leads to " +
                                               Twine(Target) +
                                               ", which is not the start of an instruction");
      Add(Target / InstructionBytes);
    }
  if ((!endsBlock(Last) || Last.Conditional) && B.Last < F.Code.size())
    Add(B.Last);
  return Error::success();
}

Error CodeReader::makeFlow(MachineFunction &F) const {
  std::set<size_t> Starts = {0, F.Entry / InstructionBytes};
  for (auto [Index, I] : enumerate(F.Code)) {
    if (endsBlock(I) && Index + 1 < F.Code.size())
      Starts.insert(Index + 1);
    if (I.Target)
      Starts.insert(*I.Target / InstructionBytes);
    if (I.Kind == MachineInstruction::IndirectBranch)
      for (uint64_t Target : indirectTargets(Elf, F.Section, I.Address))
        if (Target / InstructionBytes < F.Code.size())
          Starts.insert(Target / InstructionBytes);
  }
  // The entry's block is the first one. The others follow in the order of the code.
  std::map<uint64_t, unsigned> BlockAt = {{F.Entry / InstructionBytes, 0}};
  for (size_t Start : Starts)
    BlockAt.try_emplace(Start, BlockAt.size());
  std::vector<FlowBlock> Blocks(BlockAt.size());
  for (auto It = BlockAt.begin(); It != BlockAt.end(); ++It) {
    FlowBlock &B = Blocks[It->second];
    B.First = It->first;
    B.Last = std::next(It) == BlockAt.end() ? F.Code.size() : std::next(It)->first;
    if (Error E = addSuccessors(F, B, BlockAt))
      return E;
  }
  F.Flow = analyseFlow(std::move(Blocks));
  return Error::success();
}

Expected<std::vector<MachineFunction>> CodeReader::run(StringRef Kernel) {
  if (!is_contained(KnownArchitectures, SmVersion))
    return unsupported("machine-code", "the machine code of sm_" + Twine(SmVersion) +
                                           " is not known, expected sm_75 or one of its successors "
                                           "up to sm_121");
  std::vector<MachineFunction> Result;
  std::set<std::pair<std::string, uint64_t>> Seen;
  auto Visit = [&](std::string Section, uint64_t Entry) {
    if (!Seen.emplace(Section, Entry).second)
      return;
    Result.emplace_back();
    Result.back().Section = std::move(Section);
    Result.back().Entry = Entry;
  };
  Visit(Kernel.str(), 0);
  for (size_t Next = 0; Next < Result.size(); ++Next) {
    auto Code = readSection(Result[Next].Section);
    if (!Code)
      return Code.takeError();
    Result[Next].Code = std::move(*Code);
    if (Error E = makeFlow(Result[Next]))
      return E;
    ControlFlow Flow = Result[Next].Flow;
    for (unsigned Block : Flow.ReversePostOrder)
      for (size_t At = Flow.Blocks[Block].First; At < Flow.Blocks[Block].Last; ++At) {
        MachineInstruction I = Result[Next].Code[At];
        if (I.Kind == MachineInstruction::Call && I.Target)
          Visit(Result[Next].Section, *I.Target);
        else if (I.Kind == MachineInstruction::Call && Elf.section(".text." + I.Callee))
          Visit(I.Callee, 0);
      }
  }
  return Result;
}

} // namespace

Expected<std::vector<MachineFunction>> carve::readMachineCode(StringRef CubinBytes,
                                                              StringRef Kernel) {
  auto Elf = CubinElf::parse(CubinBytes);
  if (!Elf)
    return Elf.takeError();
  return CodeReader(*Elf).run(Kernel);
}
