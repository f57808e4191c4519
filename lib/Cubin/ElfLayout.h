/// \file
/// A cubin whose sections may have other content and other sizes than it was read with, and how it
/// becomes a file again. ReplaceKernels changes it.
#pragma once

#include "Cubin/CubinElf.h"

namespace carve {

/// The parts of a cubin, to be changed. Sections and symbols have the places of CubinElf.
struct ElfLayout {
  /// \p Elf must outlive it, unchanged.
  explicit ElfLayout(const CubinElf &Elf);

  /// Returns the file. The sections have the order and the distances that they had, each at its
  /// alignment, and the program headers cover the sections that they covered. \p Bytes is the file
  /// that the cubin was read from. Fails with Unsupported `elf-layout` if headers are not where
  /// ptxas and nvlink write them.
  llvm::Expected<std::string> write(llvm::StringRef Bytes);

  std::vector<std::string> Contents; ///< By section; empty if the section has no bytes.
  std::vector<llvm::object::ELF64LE::Shdr> Headers;
  std::vector<llvm::object::ELF64LE::Sym> Symbols;

private:
  llvm::Expected<llvm::object::ELF64LE::Phdr>
  moved(const llvm::object::ELF64LE::Phdr &Segment) const;
  uint64_t placeSections(std::string &File);

  const CubinElf &Elf;
};

} // namespace carve
