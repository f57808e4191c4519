/// \file
/// Reads the ELF structure of a cubin as NVIDIA lays it out: which sections and symbols belong to
/// which kernel. Every access is checked against the bytes, because images come from files and from
/// memory.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Object/ELF.h"
#include "llvm/Object/ELFTypes.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MathExtras.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// One relocation of a section.
struct CubinRelocation {
  size_t At = 0;       ///< Its place in the bytes of its section.
  uint64_t Offset = 0; ///< What it changes.
  uint32_t Type = 0, Symbol = 0;
  uint64_t Addend = 0; ///< 0 if the section that it changes has the addend.
};

/// One section of a cubin.
struct CubinSection {
  llvm::StringRef Name;
  /// The function that the section belongs to; empty for the module's own sections.
  llvm::StringRef Kernel;
  llvm::StringRef Bytes; ///< Empty if the section only reserves memory.
  const llvm::object::ELF64LE::Shdr *Header = nullptr;

  /// Returns the name without the kernel's, such as `.nv.constant2.`.
  llvm::StringRef prefix() const { return Name.drop_back(Kernel.size()); }
  bool isRelocation() const {
    return Header->sh_type == llvm::ELF::SHT_REL || Header->sh_type == llvm::ELF::SHT_RELA;
  }
  /// The relocations that the section lists; none if it is of another type.
  std::vector<CubinRelocation> relocations() const;
};

/// One symbol of a cubin.
struct CubinSymbol {
  llvm::StringRef Name;
  const llvm::object::ELF64LE::Sym *Entry = nullptr;

  /// Whether it names a kernel's code. The flag is NVIDIA's STO_CUDA_ENTRY in `st_other`.
  bool isKernel() const {
    return Entry->getType() == llvm::ELF::STT_FUNC && (Entry->st_other & 0x10) &&
           Entry->st_shndx != llvm::ELF::SHN_UNDEF;
  }
};

/// The sections and symbols of a cubin. They refer to the bytes that were parsed, which must
/// outlive them.
struct CubinElf {
  llvm::object::ELF64LE::Ehdr Header;
  std::vector<CubinSection> Sections;
  std::vector<CubinSymbol> Symbols;
  unsigned NamesSection = 0;   ///< The index of the table of section names.
  unsigned StringsSection = 0; ///< The index of the table of symbol names.

  /// Fails if \p Bytes is not a CUDA ELF file or is truncated.
  static llvm::Expected<CubinElf> parse(llvm::StringRef Bytes);
  /// Returns the section named \p Name; null if there is none.
  const CubinSection *section(const llvm::Twine &Name) const;
  /// Returns the section that \p Symbol lies in; null if it lies in none.
  const CubinSection *sectionOf(const CubinSymbol &Symbol) const;
  /// Returns the function whose section \p Symbol lies in; empty if it is the module's. The symbol
  /// of a section belongs to the module: it has no value.
  llvm::StringRef ownerOf(const CubinSymbol &Symbol) const;
};

/// Returns the least multiple of \p Alignment from \p Offset on. Sections may have 0 for none.
inline uint64_t alignedOffset(uint64_t Offset, uint64_t Alignment) {
  return Alignment > 1 ? llvm::alignTo(Offset, Alignment) : Offset;
}

/// Returns the function that the section \p Name belongs to, such as `K` for `.nv.constant0.K`;
/// empty if there is none. Only known kinds of sections count: a kernel may be called `init`, and
/// `.nv.global.init` does not belong to it.
llvm::StringRef kernelOfSection(llvm::StringRef Name);

} // namespace carve
