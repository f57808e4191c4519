// What a kernel has in its image gets into the base under new numbers:
//
//   .text.K .nv.constant*.K .nv.shared.K .nv.local.K     as they are
//   .rel*.*.K .nv.info.K                                 with the numbers of the base's symbols
//   symbols of K, and of its sections                    added at the end of the table
//   .nv.info .nv.callgraph                               the entries of K are added
//
// A section is put behind the last one of its kind, because a segment covers consecutive sections
// of one kind.

#include "Cubin/JoinKernels.h"

#include "Cubin/CubinInfo.h"
#include "Cubin/ElfParts.h"
#include "Cubin/SymbolPlaces.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

#include <re2/re2.h>

#include <set>

using namespace carve;
using namespace llvm;
using namespace llvm::object;
using support::endian::read32le;
using support::endian::write32le;

namespace {

/// An image whose kernels are added.
struct Donor {
  CubinElf Elf;
  SymbolPlaces Module; ///< Of the symbols that are not a kernel's.
};

class KernelJoin {
public:
  KernelJoin(const CubinElf &Base, ElfParts Parts) : Base(Base), Parts(std::move(Parts)) {}

  Error add(const Donor &From, StringRef Kernel, StringRef Name);
  std::string finish() const { return Parts.write(); }

private:
  Expected<uint32_t> neighbourOf(const CubinElf &Elf, size_t Section) const;
  Error addSections(const Donor &From, StringRef Kernel, StringRef Name);
  void addSymbols(const Donor &From, StringRef Kernel, StringRef Name);
  std::string nameOf(StringRef Symbol, StringRef Kernel, StringRef Name);
  Error addContents(const Donor &From);
  Error addModuleInfo(const CubinElf &Elf, StringRef Kernel);
  Error addCalls(const CubinElf &Elf, StringRef Kernel);

  const CubinElf &Base;
  ElfParts Parts;
  unsigned LocalFunctions = 1000000; ///< The number of the last one that was added.
  // Of the kernel that is being added: where its sections and symbols are in the base.
  std::map<size_t, uint32_t> Sections;
  SymbolPlaces Symbols;
};

} // namespace

/// What tells of which kind \p Section is, among those of all kernels or of the module.
static StringRef kindOf(const CubinSection &Section) {
  return Section.Kernel.empty() ? Section.Name : Section.prefix();
}

/// The section of the base behind which \p Section of \p Elf belongs: the last one of its kind, or
/// of the kind that comes before it in \p Elf.
Expected<uint32_t> KernelJoin::neighbourOf(const CubinElf &Elf, size_t Section) const {
  for (size_t At = Section; At > 0; --At) {
    std::optional<uint32_t> Last;
    for (uint32_t I = 0; I < Base.Sections.size(); ++I)
      if (kindOf(Base.Sections[I]) == kindOf(Elf.Sections[At]))
        Last = I;
    if (Last)
      return *Last;
  }
  return malformed("cubin: no section stands before " + Elf.Sections[Section].Name);
}

Error KernelJoin::addSections(const Donor &From, StringRef Kernel, StringRef Name) {
  Sections.clear();
  for (size_t I = 0; I < From.Elf.Sections.size(); ++I) {
    const CubinSection &S = From.Elf.Sections[I];
    if (S.Kernel != Kernel)
      continue;
    Expected<uint32_t> After = neighbourOf(From.Elf, I);
    if (!After)
      return After.takeError();
    if (Parts.Sections.size() >= ELF::SHN_LORESERVE)
      return unsupported("elf-layout", "an image has no room for so many sections");
    if (S.Header->sh_addralign > MostAlignment)
      return malformed("cubin: " + S.Name + " is aligned to " + Twine(S.Header->sh_addralign));
    Sections[I] = Parts.addSection({(S.prefix() + Name).str(), *S.Header, S.Bytes.str()}, *After);
  }
  if (Sections.empty())
    return malformed("cubin: no kernel named " + Kernel);
  return Error::success();
}

/// The name that \p Symbol of \p Kernel gets. Local functions have names of their own in an image.
std::string KernelJoin::nameOf(StringRef Symbol, StringRef Kernel, StringRef Name) {
  static const RE2 Count(R"(__internal_\d+_)");
  if (Symbol == Kernel)
    return Name.str();
  std::string New = Symbol.str();
  if (RE2::Replace(&New, Count, "__internal_" + std::to_string(LocalFunctions + 1) + "_"))
    ++LocalFunctions;
  else
    New += ("$" + Name).str();
  return New;
}

void KernelJoin::addSymbols(const Donor &From, StringRef Kernel, StringRef Name) {
  Symbols = From.Module;
  for (uint32_t I = 0; I < From.Elf.Symbols.size(); ++I) {
    const CubinSymbol &S = From.Elf.Symbols[I];
    auto Section = Sections.find(S.Entry->st_shndx);
    if (Section == Sections.end())
      continue;
    ELF64LE::Sym New = *S.Entry;
    New.st_shndx = uint16_t(Section->second);
    const bool IsSection = S.Entry->getType() == ELF::STT_SECTION;
    std::string Named =
        IsSection ? Parts.Sections[Section->second].Name : nameOf(S.Name, Kernel, Name);
    Symbols.set(I, Parts.addSymbol(New, S.Name.empty() ? "" : StringRef(Named)));
  }
}

/// Gives the sections that were added the numbers of the base.
Error KernelJoin::addContents(const Donor &From) {
  for (auto [Old, Number] : Sections) {
    const CubinSection &S = From.Elf.Sections[Old];
    ElfParts::Section &New = Parts.Sections[Number];
    if (S.isRelocation())
      if (Error E = Symbols.moveRelocations(S, New.Content))
        return E;
    if (S.prefix() == ".nv.info.")
      if (Error E = Symbols.moveInfo(New.Content))
        return E;
    auto Move = [&](auto &Section) {
      if (Section == 0)
        return true;
      if (auto Own = Sections.find(Section); Own != Sections.end()) {
        Section = Own->second;
        return true;
      }
      const CubinSection *Same = Section < From.Elf.Sections.size()
                                     ? Base.section(From.Elf.Sections[Section].Name)
                                     : nullptr;
      if (Same)
        Section = uint32_t(Same - Base.Sections.data());
      return Same != nullptr;
    };
    ELF64LE::Shdr &H = New.Header;
    bool Moved = Move(H.sh_link);
    if (informsOfSection(H))
      Moved &= Move(H.sh_info);
    if (!Moved)
      return unsupported("other-module", S.Name.str() + " refers to another section");
    if (S.prefix() != ".text.")
      continue;
    // The upper byte has the registers, the others have the kernel's symbol.
    Expected<uint32_t> Symbol = Symbols.of(H.sh_info & 0x00ffffff);
    if (!Symbol)
      return Symbol.takeError();
    H.sh_info = (H.sh_info & 0xff000000) | *Symbol;
  }
  return Error::success();
}

/// Adds what `.nv.info` of \p Elf says about \p Kernel and its local functions.
Error KernelJoin::addModuleInfo(const CubinElf &Elf, StringRef Kernel) {
  const CubinSection *From = Elf.section(".nv.info"), *To = Base.section(".nv.info");
  if (!From || !To)
    return unsupported("other-attributes", "an image says nothing about its kernels");
  std::string &All = Parts.Sections[To - Base.Sections.data()].Content;
  constexpr size_t HeaderBytes = 4;
  bool Known = true;
  forEachInfo(From->Bytes, [&](const CubinInfo &Info) {
    if (Info.Payload.size() < 8 || Info.Symbol >= Elf.Symbols.size() ||
        Elf.ownerOf(Elf.Symbols[Info.Symbol]) != Kernel)
      return;
    Known &= Info.Payload.size() == 8;
    std::string Entry(Info.Payload.data() - HeaderBytes, HeaderBytes + Info.Payload.size());
    write32le(Entry.data() + HeaderBytes, *Symbols.find(Info.Symbol));
    All += Entry;
  });
  if (!Known)
    return unsupported("other-attributes", "`.nv.info` says more of " + Kernel.str());
  return Error::success();
}

/// Adds the calls of \p Kernel and its local functions to the call graph.
Error KernelJoin::addCalls(const CubinElf &Elf, StringRef Kernel) {
  const CubinSection *From = Elf.section(".nv.callgraph"), *To = Base.section(".nv.callgraph");
  for (size_t At = 0; From && At + 8 <= From->Bytes.size(); At += 8) {
    const char *Pair = From->Bytes.data() + At;
    if (uint32_t Caller = read32le(Pair);
        Caller >= Elf.Symbols.size() || Elf.ownerOf(Elf.Symbols[Caller]) != Kernel)
      continue;
    if (!To)
      return unsupported("other-module", "only one of the images has calls");
    std::string Call(Pair, 8);
    for (size_t Word : {0, 4}) {
      uint32_t Symbol = read32le(Pair + Word);
      if (Symbol >= Elf.Symbols.size()) // A mark.
        continue;
      Expected<uint32_t> Place = Symbols.of(Symbol);
      if (!Place)
        return Place.takeError();
      write32le(Call.data() + Word, *Place);
    }
    Parts.Sections[To - Base.Sections.data()].Content += Call;
  }
  return Error::success();
}

Error KernelJoin::add(const Donor &From, StringRef Kernel, StringRef Name) {
  if (Error E = addSections(From, Kernel, Name))
    return E;
  addSymbols(From, Kernel, Name);
  if (Error E = addContents(From))
    return E;
  if (Error E = addModuleInfo(From.Elf, Kernel))
    return E;
  return addCalls(From.Elf, Kernel);
}

Expected<std::string> carve::joinKernels(StringRef Base, ArrayRef<JoinedKernel> Added) {
  Expected<CubinElf> Whole = CubinElf::parse(Base);
  if (!Whole)
    return Whole.takeError();
  Expected<ElfParts> Parts = ElfParts::of(*Whole, Base);
  if (!Parts)
    return Parts.takeError();
  KernelJoin Join(*Whole, std::move(*Parts));
  std::map<const char *, Donor> Donors; // By where their bytes are.
  std::set<std::string> Names;
  for (const JoinedKernel &K : Added) {
    if (Whole->section(".text." + K.Name) || !Names.insert(K.Name).second)
      return malformed("cubin: two kernels are named " + K.Name);
    auto From = Donors.find(K.Image.data());
    if (From == Donors.end()) {
      Expected<CubinElf> Elf = CubinElf::parse(K.Image);
      if (!Elf)
        return Elf.takeError();
      Expected<SymbolPlaces> Places = SymbolPlaces::ofModule(*Whole, *Elf);
      if (!Places)
        return Places.takeError();
      From = Donors.insert({K.Image.data(), {std::move(*Elf), std::move(*Places)}}).first;
    }
    if (Error E = Join.add(From->second, K.Kernel, K.Name))
      return E;
  }
  return Join.finish();
}
