/// \file
/// The ELF structure of a cubin as NVIDIA lays it out: which sections and symbols belong to which
/// kernel. Every access is checked against the bytes, for images come from files and memory.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Object/ELF.h"
#include "llvm/Object/ELFTypes.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

struct CubinSection {
  llvm::StringRef Name;
  llvm::StringRef Kernel; ///< The function whose section this is; empty for the module's own.
  llvm::StringRef Bytes;  ///< Empty where the section takes memory only.
  const llvm::object::ELF64LE::Shdr *Header = nullptr;

  /// The name without the kernel's, e.g. `.nv.constant2.`.
  llvm::StringRef prefix() const { return Name.drop_back(Kernel.size()); }
};

struct CubinSymbol {
  llvm::StringRef Name;
  const llvm::object::ELF64LE::Sym *Entry = nullptr;

  /// Whether it names a kernel's code. The flag is NVIDIA's STO_CUDA_ENTRY in `st_other`.
  bool isKernel() const {
    return Entry->getType() == llvm::ELF::STT_FUNC && (Entry->st_other & 0x10) &&
           Entry->st_shndx != llvm::ELF::SHN_UNDEF;
  }
};

/// Views into the bytes that it was parsed from.
struct CubinElf {
  llvm::object::ELF64LE::Ehdr Header;
  std::vector<CubinSection> Sections;
  std::vector<CubinSymbol> Symbols;
  unsigned NamesSection = 0;   ///< Index of the table of section names.
  unsigned StringsSection = 0; ///< Index of the table of symbol names.

  /// Fails where \p Bytes is no CUDA ELF, or is cut short.
  static llvm::Expected<CubinElf> parse(llvm::StringRef Bytes);
  /// Null where there is no such section.
  const CubinSection *section(const llvm::Twine &Name) const;
};

/// The function that the section \p Name belongs to, e.g. `K` for `.nv.constant0.K`, else empty.
/// Only known kinds of sections count: a kernel may be called `init`, and `.nv.global.init` is not
/// its.
llvm::StringRef kernelOfSection(llvm::StringRef Name);

} // namespace carve
