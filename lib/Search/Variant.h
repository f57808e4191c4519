/// \file
/// Defines the setting of a variant, which has a value for each knob, that is, for each thing that
/// a variant may change; and the name of a variant. The search, tuning, emission and the profiles
/// all name variants by it.
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
  L2Only, ///< Loads without a cache operator become `ld.global.cg`, as with `-dlcm=cg`.
};

/// One value for each knob. If every field has its default, the setting is nvcc's own code.
struct VariantSetting {
  std::optional<unsigned> Cap; ///< The register cap, `.maxnreg` of the entry.
  /// The `-maxreg` that cicc is given when it makes the kernel's PTX. If it is absent, the command
  /// decides.
  std::optional<unsigned> FrontEndCap = {};
  bool SmemSpilling = false; ///< The entry gets `.pragma "enable_smem_spilling"`.
  LoadCaching Loads = LoadCaching::AsCompiled;
  /// The `--register-usage-level` of ptxas, which holds for the whole unit. If it is absent, the
  /// command decides.
  std::optional<unsigned> RegisterUsageLevel = {};

  bool isDefault() const { return *this == VariantSetting(); }
  auto operator<=>(const VariantSetting &) const = default;
};

/// Returns `default` if nothing is set, else the parts that are set, such as `r40`, `f255` or
/// `r40-f40-smem-cg-l10`. The parts are register cap, front-end cap, spilling to shared memory,
/// load caching, and register-usage level, in this order.
std::string variantName(const VariantSetting &V);

/// Returns the setting whose variantName() is \p Name. Fails if \p Name is not such a name; the
/// error gives it and the expected form.
llvm::Expected<VariantSetting> parseVariantName(llvm::StringRef Name);

} // namespace carve
