/// \file
/// The kernels that the store knows, unit by unit: under the name that a pin has to give, with the
/// setting that the next compile gives them and where that comes from. For `carve kernels`.
#pragma once

#include "Store/UserProfile.h"

#include <string>
#include <vector>

namespace carve {

struct ListedKernel {
  KernelIdentity Names;
  std::string Arch;
  unsigned Regs = 0; ///< Of nvcc's own code.
  VariantSetting Setting;
  /// `default`, `store`, or the name of the profile that the setting is from.
  std::string From;
  bool Pinned = false;              ///< By hand, not by a tuning.
  std::vector<std::string> Ignored; ///< Entries that name it and do not hold, with the reason.
};

struct ListedUnit {
  std::string Source, Output; ///< Absolute.
  std::vector<ListedKernel> Kernels;
};

/// An entry of the profile that names no kernel of any unit in the store.
struct UnmatchedEntry {
  std::string Kernel, Arch;
  std::vector<std::string> Nearest; ///< Names that it may have meant.
};

struct KernelList {
  std::vector<ListedUnit> Units; ///< By source and output; those that can be read.
  std::vector<UnmatchedEntry> Unmatched;
};

/// Lists the units that lie in one of \p Folders (absolute), all where that is empty. Entries are
/// looked for in all units.
KernelList listKernels(const UnitStore &Store, llvm::ArrayRef<std::string> Folders,
                       CurrentProfiles &Profiles);

std::string printKernelsText(const KernelList &List);
std::string printKernelsJson(const KernelList &List);

} // namespace carve
