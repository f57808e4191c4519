#include "Cubin/SymbolPlaces.h"

#include "Cubin/CubinInfo.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Endian.h"

#include <re2/re2.h>

#include <algorithm>

using namespace carve;
using namespace llvm;
using namespace llvm::object;
using support::endian::read32le;
using support::endian::write32le;

std::vector<uint32_t> carve::ownSymbols(const CubinElf &Elf, StringRef Kernel) {
  std::vector<uint32_t> Own;
  for (uint32_t I = 0; I < Elf.Symbols.size(); ++I)
    if (Elf.ownerOf(Elf.Symbols[I]) == Kernel)
      Own.push_back(I);
  return Own;
}

std::string carve::symbolKey(const CubinElf &Elf, const CubinSymbol &Symbol) {
  const CubinSection *Section = Elf.sectionOf(Symbol);
  if (Symbol.Entry->getType() == ELF::STT_SECTION && Section)
    return "section " + Section->Name.str();
  return Symbol.Name.str();
}

std::string carve::uncounted(StringRef Symbol) {
  static const RE2 Count(R"(__internal_\d+_)");
  std::string Name = Symbol.str();
  RE2::GlobalReplace(&Name, Count, "__internal_");
  return Name;
}

/// Whether \p Section is the module's and need not be the same: tables that follow from the rest,
/// notes on how ptxas was called, and what is taken for each kernel by itself.
static bool mayDiffer(const CubinSection &Section) {
  static constexpr StringLiteral Names[] = {
      "",         ".shstrtab",    ".strtab",           ".symtab",          ".note.nv.tkinfo",
      ".nv.info", ".debug_frame", ".rela.debug_frame", ".rel.debug_frame", ".nv.callgraph"};
  return !Section.Kernel.empty() || is_contained(Names, Section.Name);
}

/// The relocations that \p Section of \p Elf lists, in words, because symbols may have other
/// numbers in another image.
static std::vector<std::string> relocationLines(const CubinElf &Elf, const CubinSection &Section) {
  std::vector<std::string> Lines;
  for (const CubinRelocation &R : Section.relocations())
    Lines.push_back((Twine(R.Offset) + " " + Twine(R.Type) + " " + Twine(R.Addend) + " " +
                     (R.Symbol < Elf.Symbols.size() ? symbolKey(Elf, Elf.Symbols[R.Symbol]) : ""))
                        .str());
  sort(Lines);
  return Lines;
}

/// The bank of constants in which ptxas keeps the addresses of variables and of functions of the
/// system. Behind those of all variables it has those of the functions that its kernels call.
static constexpr StringLiteral AddressBank = ".nv.constant4";

/// Whether an image whose `.nv.compat` is \p Mine promises all that \p Theirs asks for. The second
/// of its records, `02 02 V 00`, is larger where a kernel has certain instructions, such as those
/// of textures, and is the largest of all kernels. The other records must be the same.
static bool isCompatible(StringRef Mine, StringRef Theirs) {
  constexpr StringLiteral Record("\x02\x02");
  constexpr size_t At = 4, Value = At + Record.size();
  if (Mine.size() != Theirs.size() || Mine.size() <= Value || Mine.substr(At, 2) != Record)
    return Mine == Theirs;
  return Mine.take_front(Value) == Theirs.take_front(Value) &&
         Mine.drop_front(Value + 1) == Theirs.drop_front(Value + 1) &&
         uint8_t(Mine[Value]) >= uint8_t(Theirs[Value]);
}

/// Whether kernels of \p Donor find in \p Mine, the section of the base, all that is in \p Theirs.
static bool hasAll(const CubinElf &Base, const CubinSection &Mine, const CubinElf &Donor,
                   const CubinSection &Theirs) {
  if (Mine.Header->sh_type != Theirs.Header->sh_type)
    return false;
  if (Theirs.isRelocation()) {
    const std::vector<std::string> All = relocationLines(Base, Mine),
                                   Some = relocationLines(Donor, Theirs);
    return std::includes(All.begin(), All.end(), Some.begin(), Some.end());
  }
  if (Theirs.Name == ".nv.compat")
    return isCompatible(Mine.Bytes, Theirs.Bytes);
  if (Theirs.Name == AddressBank)
    return Mine.Bytes.starts_with(Theirs.Bytes);
  return Mine.Header->sh_size == Theirs.Header->sh_size && Mine.Bytes == Theirs.Bytes;
}

static Error checkModule(const CubinElf &Base, const CubinElf &Donor) {
  if (Base.Header.e_type != ELF::ET_EXEC || Donor.Header.e_type != ELF::ET_EXEC ||
      Base.Header.e_flags != Donor.Header.e_flags)
    return unsupported("other-module", "the headers of the images differ, or nvlink has to link");
  for (const CubinSection &Section : Base.Sections) {
    if (Section.Name.starts_with(".nv.merc") || Section.Name.starts_with(".nv.capmerc"))
      return unsupported("mercury-code", "the image has code for other architectures as well");
    if ((Section.Name.starts_with(".debug_") && Section.Name != ".debug_frame") ||
        Section.Name.starts_with(".nv_debug"))
      return unsupported("line-information", "the image has " + Section.Name.str());
  }
  for (const CubinSection &Section : Donor.Sections) {
    if (mayDiffer(Section))
      continue;
    const CubinSection *Mine = Base.section(Section.Name);
    if (!Mine || !hasAll(Base, *Mine, Donor, Section))
      return unsupported("other-module", "section " + Section.Name.str() + " differs");
  }
  return Error::success();
}

/// Whether a symbol of the module means the same in both images.
static bool sameSymbol(const ELF64LE::Sym &A, const ELF64LE::Sym &B) {
  return A.st_info == B.st_info && A.st_other == B.st_other && A.st_value == B.st_value &&
         A.st_size == B.st_size;
}

Expected<SymbolPlaces> SymbolPlaces::ofModule(const CubinElf &Base, const CubinElf &Donor) {
  if (Error E = checkModule(Base, Donor))
    return E;
  SymbolPlaces Found;
  StringMap<std::vector<uint32_t>> ByKey;
  for (uint32_t I = 0; I < Base.Symbols.size(); ++I)
    if (Base.ownerOf(Base.Symbols[I]).empty())
      ByKey[symbolKey(Base, Base.Symbols[I])].push_back(I);
  for (uint32_t I = 0; I < Donor.Symbols.size(); ++I) {
    const CubinSymbol &Symbol = Donor.Symbols[I];
    std::string Key = symbolKey(Donor, Symbol);
    auto Same = ByKey.find(Key);
    // A symbol that is not found or not unique must not be needed.
    if (Key.empty() || !Donor.ownerOf(Symbol).empty() || Same == ByKey.end() ||
        Same->second.size() != 1)
      continue;
    if (!sameSymbol(*Symbol.Entry, *Base.Symbols[Same->second.front()].Entry))
      return unsupported("other-module", "the symbol " + Key + " differs");
    Found.Places[I] = Same->second.front();
  }
  return Found;
}

Expected<uint32_t> SymbolPlaces::of(uint32_t DonorSymbol) const {
  auto Place = Places.find(DonorSymbol);
  if (Place == Places.end())
    return unsupported("other-module",
                       "the other image has no symbol for number " + std::to_string(DonorSymbol));
  return Place->second;
}

std::optional<uint32_t> SymbolPlaces::find(uint32_t DonorSymbol) const {
  auto Place = Places.find(DonorSymbol);
  return Place == Places.end() ? std::nullopt : std::optional(Place->second);
}

Error SymbolPlaces::moveRelocations(const CubinSection &Section, std::string &Bytes) const {
  for (const CubinRelocation &R : Section.relocations()) {
    Expected<uint32_t> Place = of(R.Symbol);
    if (!Place)
      return Place.takeError();
    write32le(Bytes.data() + R.At + 12, *Place);
  }
  return Error::success();
}

Error SymbolPlaces::moveInfo(std::string &Bytes) const {
  Error Failed = Error::success();
  std::string Moved = Bytes;
  forEachInfo(Bytes, [&](const CubinInfo &Info) {
    // The only attributes whose payload has symbols: the constants that hold the parameters, and
    // the list of external functions.
    size_t Words = Info.Attribute == AttrParamCbank ? std::min<size_t>(1, Info.Payload.size() / 4)
                   : Info.Attribute == AttrExterns  ? Info.Payload.size() / 4
                                                    : 0;
    for (size_t Word = 0; Word < Words && !Failed; ++Word) {
      size_t At = Info.Payload.data() - Bytes.data() + 4 * Word;
      if (Expected<uint32_t> Place = of(read32le(Bytes.data() + At)))
        write32le(Moved.data() + At, *Place);
      else
        Failed = joinErrors(std::move(Failed), Place.takeError());
    }
  });
  Bytes = std::move(Moved);
  return Failed;
}
