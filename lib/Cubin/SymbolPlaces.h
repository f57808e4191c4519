/// \file
/// Finds the symbols of one device image in another image of the same module, so that kernels of
/// the first can get into the second (ReplaceKernels, JoinKernels).
#pragma once

#include "Cubin/CubinElf.h"

#include <map>

namespace carve {

/// The symbols that \p Kernel and its local functions have in \p Elf, without those of sections.
std::vector<uint32_t> ownSymbols(const CubinElf &Elf, llvm::StringRef Kernel);

/// The name of \p Symbol without the number that ptxas counts through the image, such as in
/// `$__internal_3_$__cuda_sm3x_div_rn_noftz_f32_slowpath`.
std::string uncounted(llvm::StringRef Symbol);

/// The name of \p Symbol that tells it from all others of \p Elf: a section's symbol may have no
/// name.
std::string symbolKey(const CubinElf &Elf, const CubinSymbol &Symbol);

/// Where the symbols of an image, the donor, are in another image, the base.
class SymbolPlaces {
public:
  /// Finds the symbols of the module itself. Fails with Unsupported `other-module` if the images
  /// differ in variables, constants or other things of the module, or have to be linked by nvlink;
  /// `line-information` and `mercury-code` if \p Base has sections whose parts cannot be replaced
  /// (-lineinfo, and from sm_100 on).
  static llvm::Expected<SymbolPlaces> ofModule(const CubinElf &Base, const CubinElf &Donor);

  /// Notes that \p DonorSymbol is number \p Place of the base.
  void set(uint32_t DonorSymbol, uint32_t Place) { Places[DonorSymbol] = Place; }
  /// Where \p DonorSymbol is in the base. Fails with Unsupported `other-module` if it is not there.
  llvm::Expected<uint32_t> of(uint32_t DonorSymbol) const;
  /// Where \p DonorSymbol is in the base, if it is there.
  std::optional<uint32_t> find(uint32_t DonorSymbol) const;

  /// Gives the relocations in \p Bytes, the content of \p Section of the donor, the base's symbols.
  llvm::Error moveRelocations(const CubinSection &Section, std::string &Bytes) const;
  /// Gives the attributes in \p Bytes, the section `.nv.info.K` of a kernel of the donor, the
  /// base's symbols.
  llvm::Error moveInfo(std::string &Bytes) const;

private:
  std::map<uint32_t, uint32_t> Places;
};

} // namespace carve
