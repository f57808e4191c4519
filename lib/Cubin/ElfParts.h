/// \file
/// A cubin in parts, to which sections and symbols can be added, and how it becomes a file again.
/// JoinKernels adds to it. (ElfLayout changes what is there, and adds nothing.)
#pragma once

#include "Cubin/CubinElf.h"

namespace carve {

/// The largest alignment of a section that is taken for possible.
inline constexpr uint64_t MostAlignment = 4096;

/// Whether the information in \p Header (`sh_info`) is the number of a section.
bool informsOfSection(const llvm::object::ELF64LE::Shdr &Header);

/// The parts of a linked cubin. Sections and symbols have numbers, which stay: at first the places
/// that CubinElf has. Headers and symbols refer to sections by these numbers.
struct ElfParts {
  struct Section {
    std::string Name;
    llvm::object::ELF64LE::Shdr Header;
    std::string Content;   ///< Empty if the section only reserves memory.
    uint64_t Distance = 0; ///< Bytes of nothing in the file before it, beside those that align it.
  };

  /// The parts of \p Elf, which was parsed from \p Bytes. Fails with Unsupported `elf-layout` if
  /// write() would not make the same file of them. ptxas lays out images in this way from sm_90 on,
  /// and nvlink in another one.
  static llvm::Expected<ElfParts> of(const CubinElf &Elf, llvm::StringRef Bytes);

  /// Adds \p New behind section number \p After and what was added there before. Returns its
  /// number. The name in its header is set here.
  uint32_t addSection(Section New, uint32_t After);
  /// Adds \p New with the name \p Name, which may be empty. Returns its number.
  uint32_t addSymbol(llvm::object::ELF64LE::Sym New, llvm::StringRef Name);

  /// Returns the file, as ptxas lays it out: sections one behind the other, each at its alignment,
  /// then the table of sections, and then a segment for each run of consecutive sections with the
  /// same access.
  std::string write() const;

  std::vector<Section> Sections; ///< By number.
  std::vector<llvm::object::ELF64LE::Sym> Symbols;

private:
  explicit ElfParts(const CubinElf &Elf);
  std::vector<uint32_t> order() const;

  llvm::object::ELF64LE::Ehdr Header;
  unsigned NamesSection = 0, StringsSection = 0, SymbolsSection = 0;
  std::vector<std::vector<uint32_t>> Behind; ///< By number: the sections that follow it.
};

} // namespace carve
