#include "Cubin/ElfParts.h"

#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace carve;
using namespace llvm;
using namespace llvm::object;

ElfParts::ElfParts(const CubinElf &Elf)
    : Header(Elf.Header), NamesSection(Elf.NamesSection), StringsSection(Elf.StringsSection) {
  uint64_t End = sizeof(ELF64LE::Ehdr);
  for (const CubinSection &S : Elf.Sections) {
    if (S.Header->sh_type == ELF::SHT_SYMTAB)
      SymbolsSection = unsigned(Sections.size());
    const uint64_t Begin = S.Header->sh_offset, Least = alignedOffset(End, S.Header->sh_addralign);
    Sections.push_back({S.Name.str(), *S.Header, S.Bytes.str(), Begin - std::min(Begin, Least)});
    End = std::max<uint64_t>(End, Begin + S.Bytes.size());
  }
  for (const CubinSymbol &S : Elf.Symbols)
    Symbols.push_back(*S.Entry);
  Behind.resize(Sections.size());
}

bool carve::informsOfSection(const ELF64LE::Shdr &Header) {
  return (Header.sh_flags & ELF::SHF_INFO_LINK) || Header.sh_type == ELF::SHT_REL ||
         Header.sh_type == ELF::SHT_RELA;
}

/// Whether all that \p Elf says of its sections is possible in a file of \p FileBytes bytes.
static bool isPossible(const CubinElf &Elf, size_t FileBytes) {
  return all_of(Elf.Sections, [&](const CubinSection &S) {
    const ELF64LE::Shdr &H = *S.Header;
    return H.sh_offset <= FileBytes && H.sh_addralign <= MostAlignment &&
           H.sh_link < Elf.Sections.size() &&
           (!informsOfSection(H) || H.sh_info < Elf.Sections.size());
  });
}

Expected<ElfParts> ElfParts::of(const CubinElf &Elf, StringRef Bytes) {
  if (isPossible(Elf, Bytes.size()))
    if (ElfParts Parts(Elf); Parts.write() == Bytes)
      return Parts;
  return unsupported("elf-layout", "the image is not laid out as ptxas does it for sm_90");
}

/// Appends \p Text to \p Table, whose parts end with a zero. Returns where it begins.
static uint32_t addString(std::string &Table, StringRef Text) {
  auto At = uint32_t(Table.size());
  Table += Text;
  Table += '\0';
  return At;
}

uint32_t ElfParts::addSection(Section New, uint32_t After) {
  auto Number = uint32_t(Sections.size());
  New.Header.sh_name = addString(Sections[NamesSection].Content, New.Name);
  Sections.push_back(std::move(New));
  Behind.emplace_back();
  Behind[After].push_back(Number);
  return Number;
}

uint32_t ElfParts::addSymbol(ELF64LE::Sym New, StringRef Name) {
  New.st_name = Name.empty() ? 0 : addString(Sections[StringsSection].Content, Name);
  Symbols.push_back(New);
  return uint32_t(Symbols.size() - 1);
}

/// The numbers of the sections in the order in which the file has them.
std::vector<uint32_t> ElfParts::order() const {
  std::vector<uint32_t> Order;
  std::vector<bool> Added(Sections.size(), false);
  for (const std::vector<uint32_t> &List : Behind)
    for (uint32_t Number : List)
      Added[Number] = true;
  for (uint32_t Number = 0; Number < Sections.size(); ++Number) {
    if (Added[Number])
      continue;
    Order.push_back(Number);
    append_range(Order, Behind[Number]);
  }
  return Order;
}

/// The segments of \p Sections, in the order of the file, with the places that they have there:
/// one for each run of consecutive sections with the same access.
static std::vector<ELF64LE::Phdr> segmentsOf(ArrayRef<ElfParts::Section> Sections) {
  std::vector<ELF64LE::Phdr> Segments;
  uint64_t Access = 0;
  for (const ElfParts::Section &S : Sections) {
    constexpr uint64_t Accesses = ELF::SHF_WRITE | ELF::SHF_EXECINSTR;
    const ELF64LE::Shdr &H = S.Header;
    if (!(H.sh_flags & ELF::SHF_ALLOC))
      continue;
    if (Segments.empty() || (H.sh_flags & Accesses) != Access) {
      Access = H.sh_flags & Accesses;
      ELF64LE::Phdr New = {};
      New.p_type = ELF::PT_LOAD;
      New.p_flags = ELF::PF_R | (Access & ELF::SHF_WRITE ? unsigned(ELF::PF_W) : 0) |
                    (Access & ELF::SHF_EXECINSTR ? unsigned(ELF::PF_X) : 0);
      New.p_offset = H.sh_offset;
      New.p_align = 8;
      Segments.push_back(New);
    }
    ELF64LE::Phdr &Segment = Segments.back();
    Segment.p_filesz = H.sh_offset + S.Content.size() - Segment.p_offset;
    // What only reserves memory has its place behind all that the segment has so far.
    const uint64_t Begin = alignedOffset(Segment.p_offset + Segment.p_memsz, H.sh_addralign);
    Segment.p_memsz =
        (S.Content.empty() ? Begin + H.sh_size : H.sh_offset + S.Content.size()) - Segment.p_offset;
  }
  return Segments;
}

std::string ElfParts::write() const {
  const std::vector<uint32_t> Order = order();
  std::vector<uint32_t> Place(Sections.size(), 0);
  for (size_t I = 0; I < Order.size(); ++I)
    Place[Order[I]] = uint32_t(I);
  std::vector<Section> All;
  for (uint32_t Number : Order)
    All.push_back(Sections[Number]);
  std::string &Table = All[Place[SymbolsSection]].Content;
  Table.clear();
  for (ELF64LE::Sym Symbol : Symbols) {
    if (Symbol.st_shndx < ELF::SHN_LORESERVE)
      Symbol.st_shndx = uint16_t(Place[Symbol.st_shndx]);
    Table.append(reinterpret_cast<const char *>(&Symbol), sizeof(Symbol));
  }
  // ptxas says here how many symbols there are.
  All[Place[SymbolsSection]].Header.sh_info = uint32_t(Symbols.size());
  std::string File(sizeof(ELF64LE::Ehdr), '\0');
  for (Section &S : drop_begin(All)) { // The first is no section.
    File.resize(alignedOffset(File.size(), S.Header.sh_addralign) + S.Distance);
    S.Header.sh_offset = File.size();
    if (!S.Content.empty())
      S.Header.sh_size = S.Content.size();
    S.Header.sh_link = Place[S.Header.sh_link];
    if (informsOfSection(S.Header))
      S.Header.sh_info = Place[S.Header.sh_info];
    File += S.Content;
  }
  File.resize(alignTo(File.size(), 8));
  ELF64LE::Ehdr Written = Header;
  Written.e_shoff = File.size();
  Written.e_shnum = uint16_t(All.size());
  Written.e_shstrndx = uint16_t(Place[NamesSection]);
  for (const Section &S : All)
    File.append(reinterpret_cast<const char *>(&S.Header), sizeof(S.Header));
  // The first two segments are the table of segments itself.
  std::vector<ELF64LE::Phdr> Segments = segmentsOf(All);
  ELF64LE::Phdr Own = {};
  Own.p_type = ELF::PT_PHDR;
  Own.p_flags = ELF::PF_R;
  Own.p_offset = File.size();
  Own.p_filesz = (Segments.size() + 2) * sizeof(Own);
  Own.p_memsz = Own.p_filesz;
  Own.p_align = 8;
  Segments.insert(Segments.begin(), 2, Own);
  Segments[1].p_type = ELF::PT_LOAD;
  Written.e_phoff = File.size();
  Written.e_phnum = uint16_t(Segments.size());
  for (const ELF64LE::Phdr &Segment : Segments)
    File.append(reinterpret_cast<const char *>(&Segment), sizeof(Segment));
  std::memcpy(File.data(), &Written, sizeof(Written));
  return File;
}
