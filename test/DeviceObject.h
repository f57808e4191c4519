/// \file
/// Host objects with device code as nvcc makes them, as far as their sections go, for tests without
/// nvcc.
#pragma once

#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <string>

namespace carve {

/// A container of \p Body.
inline std::string deviceContainer(const std::string &Body) {
  std::string Bytes("\x50\xed\x55\xba\x01\x00\x10\x00", 8);
  uint64_t Size = Body.size();
  return Bytes.append(reinterpret_cast<const char *>(&Size), 8) + Body;
}

template <typename T> void appendBytes(std::string &To, const T &Value) {
  To.append(reinterpret_cast<const char *>(&Value), sizeof Value);
}

/// A relocatable object with the section \p Name of \p Content.
inline std::string deviceObject(const std::string &Name, const std::string &Content,
                                unsigned Type = llvm::ELF::ET_REL) {
  std::string Names = std::string(1, '\0') + Name + std::string(1, '\0') + "names" + '\0';
  llvm::ELF::Elf64_Ehdr Header{};
  std::copy_n(llvm::ELF::ElfMagic, 4, Header.e_ident);
  Header.e_ident[llvm::ELF::EI_CLASS] = llvm::ELF::ELFCLASS64;
  Header.e_ident[llvm::ELF::EI_DATA] = llvm::ELF::ELFDATA2LSB;
  Header.e_type = Type;
  Header.e_shentsize = sizeof(llvm::ELF::Elf64_Shdr);
  Header.e_shnum = 3;
  Header.e_shstrndx = 2;
  Header.e_shoff = llvm::alignTo(sizeof Header + Content.size() + Names.size(), 8);
  llvm::ELF::Elf64_Shdr Null{}, Device{}, Table{};
  Device.sh_name = 1;
  Device.sh_type = llvm::ELF::SHT_PROGBITS;
  Device.sh_offset = sizeof Header;
  Device.sh_size = Content.size();
  Table.sh_name = Name.size() + 2;
  Table.sh_type = llvm::ELF::SHT_STRTAB;
  Table.sh_offset = sizeof Header + Content.size();
  Table.sh_size = Names.size();
  std::string Bytes;
  appendBytes(Bytes, Header);
  Bytes += Content + Names;
  Bytes.resize(Header.e_shoff);
  for (const auto &Section : {Null, Device, Table})
    appendBytes(Bytes, Section);
  return Bytes;
}

} // namespace carve
