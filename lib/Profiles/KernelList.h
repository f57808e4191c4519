/// \file
/// Lists the kernels that the store knows, unit by unit: the name that a pin must use, the setting
/// that the next compile gives the kernel, and where that setting comes from. For `carve kernels`.
#pragma once

#include "Store/UserProfile.h"

#include <string>
#include <vector>

namespace carve {

/// One kernel of a unit, on one architecture.
struct ListedKernel {
  KernelIdentity Names;
  std::string Arch;
  unsigned Regs = 0; ///< The registers of nvcc's own code.
  VariantSetting Setting;
  /// Where the setting comes from: `default`, `store`, `site`, or the name of the profile.
  std::string From;
  /// True if the setting was written by hand, false if it comes from a tuning.
  bool Pinned = false;
  /// The entries that name the kernel but do not hold, with the reason.
  std::vector<std::string> Ignored;
};

/// One unit of the store.
struct ListedUnit {
  std::string Source, Output; ///< Absolute paths.
  std::vector<ListedKernel> Kernels;
};

/// An entry of the profile that names no kernel of any unit in the store.
struct UnmatchedEntry {
  std::string Kernel, Arch;
  std::vector<std::string> Nearest; ///< Similar names that may have been meant.
};

/// The result of listKernels().
struct KernelList {
  /// Sorted by source and output. Units that cannot be read are left out.
  std::vector<ListedUnit> Units;
  std::vector<UnmatchedEntry> Unmatched;
};

/// Lists the units whose source or output is in one of \p Folders (absolute paths; empty for all
/// units). Matches the entries of the profile in \p Profiles against the kernels of all units. A
/// unit's PTX that cannot be read is logged and left out.
KernelList listKernels(const UnitStore &Store, llvm::ArrayRef<std::string> Folders,
                       CurrentProfiles &Profiles);

/// Returns the list as text.
std::string printKernelsText(const KernelList &List);
/// Returns the list as one JSON object; share/doc/formats.md describes it.
std::string printKernelsJson(const KernelList &List);

} // namespace carve
