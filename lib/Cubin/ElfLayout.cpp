#include "Cubin/ElfLayout.h"

#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace carve;
using namespace llvm;
using namespace llvm::object;

ElfLayout::ElfLayout(const CubinElf &Elf) : Elf(Elf) {
  for (const CubinSection &Section : Elf.Sections) {
    Contents.push_back(Section.Bytes.str());
    Headers.push_back(*Section.Header);
  }
  for (const CubinSymbol &Symbol : Elf.Symbols)
    Symbols.push_back(*Symbol.Entry);
}

/// Appends the sections to \p File and sets their offsets. Returns where they ended before.
uint64_t ElfLayout::placeSections(std::string &File) {
  std::vector<size_t> Order;
  for (size_t I = 1; I < Headers.size(); ++I) // The first is no section.
    Order.push_back(I);
  stable_sort(Order, [&](size_t A, size_t B) {
    return Elf.Sections[A].Header->sh_offset < Elf.Sections[B].Header->sh_offset;
  });
  uint64_t OldEnd = File.size();
  for (size_t I : Order) {
    const ELF64LE::Shdr &Old = *Elf.Sections[I].Header;
    uint64_t Distance =
        Old.sh_offset - std::min<uint64_t>(Old.sh_offset, alignedOffset(OldEnd, Old.sh_addralign));
    File.resize(alignedOffset(File.size(), Headers[I].sh_addralign) + Distance);
    Headers[I].sh_offset = File.size();
    File += Contents[I];
    OldEnd = std::max<uint64_t>(OldEnd, Old.sh_offset + Elf.Sections[I].Bytes.size());
  }
  return OldEnd;
}

/// Returns \p Segment with the new places and sizes of the sections that it covers.
Expected<ELF64LE::Phdr> ElfLayout::moved(const ELF64LE::Phdr &Segment) const {
  ELF64LE::Phdr New = Segment;
  uint64_t Begin = Segment.p_offset, End = Begin + Segment.p_filesz;
  std::optional<uint64_t> First;
  uint64_t Last = 0, OldLast = Begin;
  int64_t Grown = 0; // What the module reserves without having bytes for it.
  for (size_t I = 1; I < Headers.size(); ++I) {
    const ELF64LE::Shdr &Old = *Elf.Sections[I].Header;
    if (!(Old.sh_flags & ELF::SHF_ALLOC) || Old.sh_offset < Begin || Old.sh_offset > End)
      continue;
    bool HasBytes = !Elf.Sections[I].Bytes.empty() && Old.sh_offset < End;
    bool Reserves = Old.sh_type == ELF::SHT_NOBITS;
    if (Reserves)
      Grown += int64_t(Headers[I].sh_size) - int64_t(Old.sh_size);
    if (!HasBytes && !(Reserves && Begin == End))
      continue;
    First = std::min<uint64_t>(First.value_or(UINT64_MAX), Headers[I].sh_offset);
    Last = std::max<uint64_t>(Last, Headers[I].sh_offset + Contents[I].size());
    OldLast = std::max<uint64_t>(OldLast, Old.sh_offset + Elf.Sections[I].Bytes.size());
  }
  if (!First)
    return unsupported("elf-layout", "a segment covers no section");
  New.p_offset = *First;
  // A segment may go on to where the memory that it reserves is aligned.
  uint64_t Filling = End - std::min(End, OldLast);
  New.p_filesz = Begin == End ? 0 : Last - *First + Filling;
  int64_t Reserved = int64_t(Segment.p_memsz) - int64_t(Segment.p_filesz);
  New.p_memsz = New.p_filesz + (Reserved ? Reserved + Grown : 0);
  return New;
}

Expected<std::string> ElfLayout::write(StringRef Bytes) {
  const ELF64LE::Ehdr &Old = Elf.Header;
  const uint64_t TableBytes = sizeof(ELF64LE::Shdr) * Headers.size();
  if (Old.e_shentsize != sizeof(ELF64LE::Shdr) || Old.e_phentsize != sizeof(ELF64LE::Phdr) ||
      Old.e_shnum != Headers.size() || Old.e_phoff != Old.e_shoff + TableBytes ||
      Bytes.size() != Old.e_phoff + sizeof(ELF64LE::Phdr) * Old.e_phnum)
    return unsupported("elf-layout", "the tables of the image are not at its end");
  constexpr uint64_t MostAlignment = 4096;
  for (auto [Section, New] : zip_equal(Elf.Sections, Headers))
    if (Section.Header->sh_offset > Old.e_shoff ||
        std::max<uint64_t>(Section.Header->sh_addralign, New.sh_addralign) > MostAlignment)
      return unsupported("elf-layout", "the section " + Section.Name.str() + " lies elsewhere");
  for (auto [Section, Content] : zip_equal(Elf.Sections, Contents))
    if (Section.Header->sh_type == ELF::SHT_SYMTAB)
      Content.assign(reinterpret_cast<const char *>(Symbols.data()),
                     Symbols.size() * sizeof(ELF64LE::Sym));
  std::string File = Bytes.take_front(sizeof(ELF64LE::Ehdr)).str();
  uint64_t OldEnd = placeSections(File);
  if (Old.e_shoff < alignTo(OldEnd, 8))
    return unsupported("elf-layout", "sections end after the tables of the image begin");
  File.resize(alignTo(File.size(), 8) + (Old.e_shoff - alignTo(OldEnd, 8)));
  ELF64LE::Ehdr Header = Old;
  Header.e_shoff = File.size();
  Header.e_phoff = File.size() + TableBytes;
  std::memcpy(File.data(), &Header, sizeof(Header));
  for (const ELF64LE::Shdr &Section : Headers)
    File.append(reinterpret_cast<const char *>(&Section), sizeof(Section));
  for (unsigned I = 0; I < Old.e_phnum; ++I) {
    ELF64LE::Phdr Segment;
    std::memcpy(&Segment, Bytes.data() + Old.e_phoff + I * sizeof(Segment), sizeof(Segment));
    if (Segment.p_offset == Old.e_phoff) { // The segment of the program headers themselves.
      Segment.p_offset = Header.e_phoff;
    } else if (Segment.p_memsz) {
      Expected<ELF64LE::Phdr> New = moved(Segment);
      if (!New)
        return New.takeError();
      Segment = *New;
    }
    File.append(reinterpret_cast<const char *>(&Segment), sizeof(Segment));
  }
  return File;
}
