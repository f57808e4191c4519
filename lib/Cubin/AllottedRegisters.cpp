// The number of registers that a kernel takes is an attribute of the module. Up to sm_89 it is also
// in the upper byte of the `sh_info` field of the kernel's code section (compared for sm_75 to
// sm_120 with CUDA 13.0).
#include "Cubin/AllottedRegisters.h"

#include "Cubin/CubinElf.h"
#include "Cubin/CubinInfo.h"
#include "Support/Error.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Endian.h"

using namespace carve;
using namespace llvm;

static constexpr unsigned SectionShift = 24;

Expected<std::string>
carve::withRegistersAllotted(StringRef Bytes,
                             ArrayRef<std::pair<std::string, unsigned>> Registers) {
  auto Elf = CubinElf::parse(Bytes);
  if (!Elf)
    return Elf.takeError();
  std::string Out = Bytes.str();
  auto Write = [&](const char *Field, uint32_t Value) {
    support::endian::write32le(&Out[Field - Bytes.data()], Value);
  };
  StringMap<unsigned> Wanted, Written;
  for (const auto &[Kernel, Count] : Registers)
    Wanted[Kernel] = Count;
  const CubinSection *Info = Elf->section(".nv.info");
  if (Info)
    forEachInfo(Info->Bytes, [&](const CubinInfo &I) {
      if (I.Attribute != AttrRegCount || I.Symbol >= Elf->Symbols.size())
        return;
      auto It = Wanted.find(Elf->Symbols[I.Symbol].Name);
      if (It == Wanted.end())
        return;
      Written[It->first()] = std::max(I.Value, It->second);
      Write(I.Payload.data() + 4, Written[It->first()]);
    });
  for (const CubinSection &S : Elf->Sections) {
    auto It = Written.find(S.Kernel);
    uint32_t Old = S.Header->sh_info;
    if (It == Written.end() || S.prefix() != ".text." || !(Old >> SectionShift))
      continue;
    uint32_t Symbol = Old & ((1u << SectionShift) - 1);
    Write(reinterpret_cast<const char *>(&S.Header->sh_info), It->second << SectionShift | Symbol);
  }
  for (const auto &Kernel : Wanted)
    if (!Written.count(Kernel.first()))
      return malformed("cubin: no register count for kernel " + Kernel.first());
  return Out;
}
