#include "Cubin/Cubin.h"

#include "Cubin/CodeDigest.h"
#include "Cubin/CubinElf.h"
#include "Cubin/CubinInfo.h"
#include "Support/Error.h"

#include "llvm/ADT/DenseMap.h"

using namespace carve;
using namespace llvm;
using namespace llvm::object;

static unsigned smVersion(const CubinElf &Elf) { return (Elf.Header.e_flags >> 8) & 0xff; }

/// Returns the shared memory that the system takes of each block, in bytes. In a linked image ptxas
/// and nvlink include it in the size of the kernel's section from sm_90 on; for older architectures
/// the driver adds it.
static uint64_t reservedSmemBytes(const CubinElf &Elf) {
  return Elf.Header.e_type != ELF::ET_REL && smVersion(Elf) >= 90 ? 1024 : 0;
}

static void readModuleInfo(const CubinElf &Elf, DenseMap<uint32_t, KernelResources> &BySymbol) {
  const CubinSection *Section = Elf.section(".nv.info");
  if (!Section)
    return;
  forEachInfo(Section->Bytes, [&](const CubinInfo &Info) {
    auto It = BySymbol.find(Info.Symbol);
    if (It == BySymbol.end())
      return;
    KernelResources &K = It->second;
    if (Info.Attribute == AttrRegCount)
      K.RegsPerThread = Info.Value;
    else if (Info.Attribute == AttrMinStackSize && Info.Value == UINT32_MAX)
      K.StackUnknown = true;
    else if (Info.Attribute == AttrFrameSize || Info.Attribute == AttrMinStackSize)
      K.StackBytes = std::max(K.StackBytes, Info.Value);
  });
}

static void readOwnSections(const CubinElf &Elf, CubinKernel &Kernel) {
  KernelResources &K = Kernel.Resources;
  for (const CubinSection &Section : Elf.Sections) {
    if (Section.Kernel != K.Name)
      continue;
    if (Section.prefix() == ".nv.info.")
      forEachInfo(Section.Bytes, [&](const CubinInfo &Info) {
        if (Info.Attribute == AttrNumBarriers)
          K.Barriers = Info.Value;
      });
    else if (Section.prefix() == ".nv.shared.")
      K.StaticSmemBytes = Section.Header->sh_size -
                          std::min<uint64_t>(Section.Header->sh_size, reservedSmemBytes(Elf));
    else if (Section.prefix() == ".text.")
      Kernel.CodeBytes = Section.Bytes.size();
  }
}

Expected<Cubin> carve::parseCubin(StringRef Bytes) {
  auto Elf = CubinElf::parse(Bytes);
  if (!Elf)
    return Elf.takeError();
  Cubin Result;
  Result.SmVersion = smVersion(*Elf);
  Result.Relocatable = Elf->Header.e_type == ELF::ET_REL;
  DenseMap<uint32_t, KernelResources> BySymbol;
  for (size_t I = 0; I < Elf->Symbols.size(); ++I)
    if (Elf->Symbols[I].isKernel())
      BySymbol[I].Name = Elf->Symbols[I].Name.str();
  readModuleInfo(*Elf, BySymbol);
  CodeDigester Digester(*Elf);
  for (size_t I = 0; I < Elf->Symbols.size(); ++I) {
    if (!Elf->Symbols[I].isKernel())
      continue;
    CubinKernel Kernel;
    Kernel.Resources = std::move(BySymbol[I]);
    readOwnSections(*Elf, Kernel);
    if (!Kernel.CodeBytes)
      return malformed("cubin: no code of kernel " + Kernel.Resources.Name);
    auto Digest = Digester.digest(Kernel.Resources.Name);
    if (!Digest)
      return Digest.takeError();
    Kernel.CodeDigest = std::move(*Digest);
    Result.Kernels.push_back(std::move(Kernel));
  }
  return Result;
}
