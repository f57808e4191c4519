/// \file
/// One setting of everything that a variant of a kernel may change, and its name.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <compare>
#include <optional>
#include <string>

namespace carve {

/// Where global loads look first.
enum class LoadCaching {
  AsCompiled,
  L2Only, ///< `ld.global.cg` where the program gives no cache operator, as `-dlcm=cg` does.
};

/// All fields as by default: nvcc's own code.
struct VariantSetting {
  std::optional<unsigned> Cap; ///< `.maxnreg` of the entry.
  /// What cicc was given as `-maxreg` when it made the PTX of the kernel; absent: as the command
  /// says.
  std::optional<unsigned> FrontEndCap = {};
  bool SmemSpilling = false; ///< `.pragma "enable_smem_spilling"`.
  LoadCaching Loads = LoadCaching::AsCompiled;
  /// ptxas' `--register-usage-level`, of the whole unit; absent: as the command says.
  std::optional<unsigned> RegisterUsageLevel = {};

  bool isDefault() const { return *this == VariantSetting(); }
  auto operator<=>(const VariantSetting &) const = default;
};

/// `default`, or what is set, e.g. `r40`, `f255`, `r40-f40-smem-cg-l10`: register cap, front-end
/// cap, spilling to shared memory, load caching, register-usage level.
std::string variantName(const VariantSetting &V);

/// The setting that variantName() wrote. Fails naming \p Name and what was expected.
llvm::Expected<VariantSetting> parseVariantName(llvm::StringRef Name);

} // namespace carve
