/// \file
/// Turns a setting of the knobs into the edit of a kernel's PTX. Tuning and emission both ask here,
/// so that what is emitted is what was timed.
#pragma once

#include "Device/DeviceModel.h"
#include "Ptx/PtxModule.h"
#include "Search/Variant.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// PTX of the same unit that cicc made with another `-maxreg`. Fails with Unsupported where none
/// can be made. What it points to has to live as long as the edits made of it.
using FlavourSource = llvm::function_ref<llvm::Expected<const PtxModule *>(unsigned FrontEndCap)>;

/// What \p V changes in \p Entry, the register-usage level aside, which is no matter of the PTX.
/// \p SmemSpillingMaxThreads: smemSpillingMaxThreads(), asked for only where V has that knob.
/// \p Flavours is asked only where V names a front-end cap. Fails with Unsupported where V cannot
/// be had of the entry: spilling to shared memory as reasonNotSmemSpilling() says, L2 loads where
/// there is no load to change (`no-plain-global-loads`), and as \p Flavours fails. \p Ceiling: the
/// user's own -maxrregcount, which the entry keeps to where it did.
llvm::Expected<EntryEdit> entryEdit(const VariantSetting &V, const PtxEntry &Entry,
                                    unsigned SmemSpillingMaxThreads, FlavourSource Flavours,
                                    std::optional<unsigned> Ceiling = std::nullopt);

/// The bound of its block that \p Entry gets for spilling to shared memory where it has none: the
/// largest block that the default's \p DefaultRegs allow, so that every launch that the default
/// accepts stays possible.
unsigned smemSpillingMaxThreads(const DeviceModel &D, const EntryDirectives &Directives,
                                unsigned DefaultRegs);

/// Why ptxas would not spill registers of \p Entry to shared memory, or would refuse the whole
/// module: its own rules (`-c`, dynamic shared memory, calls by the ABI), or a toolkit before 13.0.
/// Nothing where it may. \p NvccVersion as `13.0.88`.
std::optional<std::string> reasonNotSmemSpilling(const PtxEntry &Entry, bool Relocatable,
                                                 llvm::StringRef NvccVersion);

/// ptxas \p Options with `--register-usage-level` as \p V has it, in place of one that is there.
std::vector<std::string> ptxasOptionsFor(const VariantSetting &V,
                                         llvm::ArrayRef<std::string> Options);

/// The static shared memory that a kernel may have grown to by that: beyond it no launch succeeds
/// without an attribute that the program sets.
inline constexpr unsigned SmemSpillingLimitBytes = 48 * 1024;

} // namespace carve
