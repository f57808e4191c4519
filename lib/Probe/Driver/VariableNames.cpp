#include "Probe/Driver/VariableNames.h"

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string_view>

using namespace carve::probe;

namespace {
/// A cubin. Nothing outside of its bytes is read.
class Image {
public:
  Image(const void *Data, size_t Bytes) : Data(static_cast<const char *>(Data)), Bytes(Bytes) {}

  template <class T> bool read(uint64_t Offset, T &Out) const {
    if (Offset > Bytes || sizeof(T) > Bytes - Offset)
      return false;
    std::memcpy(&Out, Data + Offset, sizeof(T));
    return true;
  }
  /// Returns the text at \p Offset of the string table \p Table.
  std::string_view text(const Elf64_Shdr &Table, uint64_t Offset) const {
    uint64_t End = Table.sh_offset + Table.sh_size;
    if (End < Table.sh_offset || End > Bytes || Offset >= Table.sh_size)
      return {};
    const char *From = Data + Table.sh_offset + Offset;
    return {From, ::strnlen(From, Table.sh_size - Offset)};
  }

private:
  const char *Data;
  size_t Bytes;
};
} // namespace

static bool holdsVariables(std::string_view Section) {
  // The constants in a kernel's own banks, which hold its parameters, are no variables.
  return Section.rfind(".nv.global", 0) == 0 || Section == ".nv.constant3";
}

void carve::probe::addVariableNames(const void *Data, size_t Bytes, std::set<std::string> &Names) {
  Image I(Data, Bytes);
  Elf64_Ehdr Head;
  if (!I.read(0, Head) || std::memcmp(Head.e_ident, ELFMAG, SELFMAG) != 0 ||
      Head.e_ident[EI_CLASS] != ELFCLASS64 || Head.e_shentsize != sizeof(Elf64_Shdr))
    return;
  auto Section = [&](uint64_t Index, Elf64_Shdr &Out) {
    return Index < Head.e_shnum && I.read(Head.e_shoff + Index * sizeof(Elf64_Shdr), Out);
  };
  Elf64_Shdr Titles, Symbols, Strings, Of;
  if (!Section(Head.e_shstrndx, Titles))
    return;
  for (uint64_t S = 0; Section(S, Symbols); ++S) {
    if (Symbols.sh_type != SHT_SYMTAB || !Section(Symbols.sh_link, Strings))
      continue;
    Elf64_Sym Symbol;
    for (uint64_t At = 0; At + sizeof Symbol <= Symbols.sh_size; At += sizeof Symbol) {
      if (!I.read(Symbols.sh_offset + At, Symbol))
        return;
      if (ELF64_ST_TYPE(Symbol.st_info) == STT_OBJECT && Section(Symbol.st_shndx, Of) &&
          holdsVariables(I.text(Titles, Of.sh_name)))
        if (std::string_view Name = I.text(Strings, Symbol.st_name); !Name.empty())
          Names.emplace(Name);
    }
  }
}
