#include "Cubin/CubinElf.h"

#include "Support/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

#include <re2/re2.h>

using namespace carve;
using namespace llvm;
using namespace llvm::object;

StringRef carve::kernelOfSection(StringRef Name) {
  // A PTX identifier has no dots, so the function's name is what follows the last dot. From sm_100
  // on, each section has counterparts for finalizing the code for another architecture of the
  // family (`.nv.merc.rela.text.K`, `.nv.capmerc.text.K`).
  static const RE2 Owned(R"((?:\.nv\.(?:cap)?merc)?(?:\.rela?)?)"
                         R"(\.(?:text|nv\.(?:info|shared|local|constant\d+))\.([^.]+))");
  re2::StringPiece Kernel;
  if (!RE2::FullMatch(re2::StringPiece(Name.data(), Name.size()), Owned, &Kernel))
    return "";
  return Name.take_back(Kernel.size());
}

/// Whether a section reserves memory on the device but has no bytes in the file. Besides NOBITS
/// these are NVIDIA's own types for global, local, shared and reserved shared memory (ptxas -c).
static bool hasNoBytes(const ELF64LE::Shdr &Header) {
  switch (Header.sh_type) {
  case ELF::SHT_NOBITS:
  case ELF::SHT_LOPROC + 0x07:
  case ELF::SHT_LOPROC + 0x09:
  case ELF::SHT_LOPROC + 0x0a:
  case ELF::SHT_LOPROC + 0x15:
    return true;
  default:
    return false;
  }
}

static Error readSections(const ELFFile<ELF64LE> &File, CubinElf &Result) {
  auto Headers = File.sections();
  if (!Headers)
    return Headers.takeError();
  auto Names = File.getSectionStringTable(*Headers);
  if (!Names)
    return Names.takeError();
  for (const ELF64LE::Shdr &Header : *Headers) {
    CubinSection Section;
    auto Name = File.getSectionName(Header, *Names);
    if (!Name)
      return Name.takeError();
    if (!hasNoBytes(Header)) {
      auto Bytes = File.getSectionContents(Header);
      if (!Bytes)
        return Bytes.takeError();
      Section.Bytes = toStringRef(*Bytes);
    }
    Section.Name = *Name;
    Section.Kernel = kernelOfSection(*Name);
    Section.Header = &Header;
    Result.Sections.push_back(Section);
  }
  Result.NamesSection = File.getHeader().e_shstrndx;
  if (Result.NamesSection >= Result.Sections.size())
    return malformed("cubin: the table of section names is section " + Twine(Result.NamesSection) +
                     " of " + Twine(Result.Sections.size()));
  return Error::success();
}

static Error readSymbols(const ELFFile<ELF64LE> &File, CubinElf &Result) {
  for (const CubinSection &Section : Result.Sections) {
    if (Section.Header->sh_type != ELF::SHT_SYMTAB)
      continue;
    auto Symbols = File.symbols(Section.Header);
    if (!Symbols)
      return Symbols.takeError();
    auto Strings = File.getStringTableForSymtab(*Section.Header);
    if (!Strings)
      return Strings.takeError();
    for (const ELF64LE::Sym &Symbol : *Symbols) {
      auto Name = Symbol.getName(*Strings);
      if (!Name)
        return Name.takeError();
      if (Symbol.st_shndx < ELF::SHN_LORESERVE && Symbol.st_shndx >= Result.Sections.size())
        return malformed("cubin: symbol " + *Name + " lies in section " +
                         Twine(unsigned(Symbol.st_shndx)) + " of " + Twine(Result.Sections.size()));
      Result.Symbols.push_back({*Name, &Symbol});
    }
    Result.StringsSection = Section.Header->sh_link;
    return Error::success();
  }
  return malformed("cubin: no symbol table");
}

Expected<CubinElf> CubinElf::parse(StringRef Bytes) {
  if (!Bytes.starts_with(StringRef(ELF::ElfMagic, 4)))
    return malformed("cubin: not an ELF file");
  auto File = ELFFile<ELF64LE>::create(Bytes);
  if (!File)
    return File.takeError();
  const ELF64LE::Ehdr &Header = File->getHeader();
  if (Header.e_ident[ELF::EI_CLASS] != ELF::ELFCLASS64 ||
      Header.e_ident[ELF::EI_DATA] != ELF::ELFDATA2LSB || Header.e_machine != ELF::EM_CUDA)
    return malformed("cubin: machine " + Twine(unsigned(Header.e_machine)) + ", expected " +
                     Twine(unsigned(ELF::EM_CUDA)) + ", 64 bits, little-endian");
  CubinElf Result;
  Result.Header = Header;
  // The program headers come last in a linked cubin, so reading them shows whether it is truncated.
  auto ProgramHeaders = File->program_headers();
  if (!ProgramHeaders)
    return ProgramHeaders.takeError();
  if (Error E = readSections(*File, Result))
    return E;
  if (Error E = readSymbols(*File, Result))
    return E;
  return Result;
}

const CubinSection *CubinElf::section(const Twine &Name) const {
  std::string Wanted = Name.str();
  for (const CubinSection &Section : Sections)
    if (Section.Name == Wanted)
      return &Section;
  return nullptr;
}

const CubinSection *CubinElf::sectionOf(const CubinSymbol &Symbol) const {
  unsigned Index = Symbol.Entry->st_shndx;
  return Index == ELF::SHN_UNDEF || Index >= Sections.size() ? nullptr : &Sections[Index];
}

StringRef CubinElf::ownerOf(const CubinSymbol &Symbol) const {
  const CubinSection *Section = sectionOf(Symbol);
  return Section && Symbol.Entry->getType() != ELF::STT_SECTION ? Section->Kernel : StringRef();
}

std::vector<CubinRelocation> CubinSection::relocations() const {
  using namespace support::endian;
  std::vector<CubinRelocation> All;
  if (!isRelocation())
    return All;
  const bool Addends = Header->sh_type == ELF::SHT_RELA;
  const size_t EntryBytes = Addends ? sizeof(ELF64LE::Rela) : sizeof(ELF64LE::Rel);
  for (size_t At = 0; At + EntryBytes <= Bytes.size(); At += EntryBytes) {
    const char *P = Bytes.data() + At;
    All.push_back(
        {At, read64le(P), read32le(P + 8), read32le(P + 12), Addends ? read64le(P + 16) : 0});
  }
  return All;
}
