/// \file
/// Machine code as the stand-in driver and the probe take it: an ELF file whose symbols are kernels
/// and variables, without any code.
#pragma once

#include <cstring>
#include <elf.h>
#include <string>
#include <utility>
#include <vector>

namespace carve::standin {

/// Returns an image with \p Kernels, \p Variables and \p Constants. Each variable has a name and
/// its bytes; all of them are in managed memory if \p Managed is set.
inline std::string imageFile(const std::vector<std::string> &Kernels,
                             const std::vector<std::pair<std::string, unsigned>> &Variables,
                             bool Managed = false,
                             const std::vector<std::pair<std::string, unsigned>> &Constants = {}) {
  std::string Names(1, '\0'), Sizes, SectionNames(1, '\0'), Body(sizeof(Elf64_Ehdr), '\0');
  std::vector<Elf64_Sym> Symbols(1);
  auto Add = [&](const std::string &Name, unsigned char Type, Elf64_Half Section, unsigned Bytes) {
    Elf64_Sym Symbol{};
    Symbol.st_name = Elf64_Word(Names.size());
    Symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, Type);
    Symbol.st_shndx = Section;
    Symbol.st_size = Bytes;
    Symbol.st_other = Managed && Type == STT_OBJECT ? 4 : 0;
    Symbols.push_back(Symbol);
    Names += Name + '\0';
  };
  for (const std::string &Kernel : Kernels)
    Add(Kernel, STT_FUNC, 1, 16);
  for (const auto &[Name, Bytes] : Variables) {
    Add(Name, STT_OBJECT, 2, Bytes);
    Sizes += "global:" + Name + ":" + std::to_string(Bytes) + " ";
  }
  for (const auto &[Name, Bytes] : Constants) {
    Add(Name, STT_OBJECT, 3, Bytes);
    Sizes += "constant:" + Name + ":" + std::to_string(Bytes) + " ";
  }
  std::vector<Elf64_Shdr> Sections(1);
  auto Section = [&](const char *Name, Elf64_Word Type, const std::string &Bytes) {
    Elf64_Shdr Header{};
    Header.sh_name = Elf64_Word(SectionNames.size());
    Header.sh_type = Type;
    Header.sh_offset = Body.size();
    Header.sh_size = Bytes.size();
    SectionNames += std::string(Name) + '\0';
    if (Type != SHT_NOBITS)
      Body += Bytes;
    Sections.push_back(Header);
  };
  Section(".text", SHT_PROGBITS, std::string(16, 'x'));
  Section(".nv.global", SHT_NOBITS, std::string(64, '\0'));
  Section(".nv.constant3", SHT_PROGBITS, std::string(64, '\0'));
  Section(".comment", SHT_PROGBITS, Sizes);
  Section(".strtab", SHT_STRTAB, Names);
  Section(".symtab", SHT_SYMTAB,
          {reinterpret_cast<const char *>(Symbols.data()), Symbols.size() * sizeof(Elf64_Sym)});
  Sections.back().sh_link = Elf64_Word(Sections.size() - 2);
  Sections.back().sh_entsize = sizeof(Elf64_Sym);
  SectionNames += ".shstrtab";
  std::string Whole = SectionNames + '\0';
  Section("", SHT_STRTAB, Whole);
  Elf64_Ehdr Header{};
  std::memcpy(Header.e_ident, ELFMAG, SELFMAG);
  Header.e_ident[EI_CLASS] = ELFCLASS64;
  Header.e_shentsize = sizeof(Elf64_Shdr);
  Header.e_shnum = Elf64_Half(Sections.size());
  Header.e_shstrndx = Elf64_Half(Sections.size() - 1);
  Header.e_shoff = Body.size();
  std::memcpy(Body.data(), &Header, sizeof Header);
  return Body.append(reinterpret_cast<const char *>(Sections.data()),
                     Sections.size() * sizeof(Elf64_Shdr));
}

} // namespace carve::standin
