/// \file
/// Turns a setting of the knobs into the edit of a kernel's PTX. Tuning and emission both use it,
/// so that the emitted code is the code that was timed.
#pragma once

#include "Cubin/Assembler.h"
#include "Device/DeviceModel.h"
#include "Ptx/PtxModule.h"
#include "Search/Variant.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// Returns the PTX of the same unit that cicc made with another setting. Fails with Unsupported if
/// that PTX cannot be made. The module must live as long as the edits that use it.
using FlavourSource =
    llvm::function_ref<llvm::Expected<const PtxModule *>(const FrontEndSetting &)>;

/// Returns the changes of \p V to \p Entry. The assembler's setting is not among them, because it
/// consists of options of ptxas and is not part of the PTX.
/// \p SmemSpillingMaxThreads is the result of smemSpillingMaxThreads(), used only if \p V has that
/// knob. \p Flavours is called only if \p V has a front-end cap or knob. \p Ceiling is the user's
/// own -maxrregcount: an entry that obeyed it without the edit obeys it with the edit, too. \p
/// Known is what is known of the launches, which is put into the PTX if \p V has that knob. Fails
/// with Unsupported if \p V is not possible for the entry: if ptxas would refuse to spill its
/// registers to shared memory, if it has no load to change (`no-plain-global-loads`), if the module
/// of the front-end setting lacks the entry (`front-end-declarations`), or if \p Flavours fails.
llvm::Expected<EntryEdit> entryEdit(const VariantSetting &V, const PtxEntry &Entry,
                                    unsigned SmemSpillingMaxThreads, FlavourSource Flavours,
                                    std::optional<unsigned> Ceiling = std::nullopt,
                                    const KnownLaunch &Known = {});

/// Returns the block size in threads that \p Entry gets as `.maxntid` for spilling to shared memory
/// if it has no bound of its own. It is the largest block that \p DefaultRegs, the registers of the
/// default, allow, so every launch that the default accepts stays possible.
unsigned smemSpillingMaxThreads(const DeviceModel &D, const EntryDirectives &Directives,
                                unsigned DefaultRegs);

/// Returns why ptxas would not spill registers of \p Entry to shared memory, would do it wrongly,
/// or would refuse the whole module; nothing if spilling is possible. The reasons are rules of
/// ptxas (`-c`, dynamic shared memory, calls by the ABI), a bound on the block that is no whole
/// number of warps, for which ptxas takes too little memory, or a toolkit before 13.0. \p
/// NvccVersion has the form `13.0.88`.
std::optional<std::string> reasonNotSmemSpilling(const PtxEntry &Entry, bool Relocatable,
                                                 llvm::StringRef NvccVersion);

/// Returns the ptxas options \p Options with what \p Setting sets in place of their own.
std::vector<std::string> ptxasOptionsFor(const AssemblerSetting &Setting,
                                         llvm::ArrayRef<std::string> Options);

/// Returns why no kernel of a unit may have an assembler setting of its own, or nothing: the unit
/// is compiled with -rdc (\p Relocatable), so that nvlink makes the image; its \p Options ask for
/// line information, which describes code by its place in the image; or \p Arch is sm_100 or newer,
/// whose images hold each kernel in a second form.
std::optional<std::string>
reasonNotReassembled(llvm::StringRef Arch, llvm::ArrayRef<std::string> Options, bool Relocatable);

/// Returns the register-usage levels that are worth trying for a unit with \p Options: one of each
/// of the three ranges in which ptxas makes the same code, but for the command's own range.
std::vector<unsigned> registerUsageLevelsToTry(llvm::ArrayRef<std::string> Options);

/// Returns whether ptxas optimizes more with \p Options than at level 1.
bool mayBeLessOptimized(llvm::ArrayRef<std::string> Options);

/// Groups the kernels and clones of \p Settings by their settings, for assembleMixed(). \p Options
/// are the unit's. Those with the default setting are left out.
std::vector<ReassembledKernels>
reassembledKernels(const std::map<std::string, AssemblerSetting> &Settings,
                   llvm::ArrayRef<std::string> Options);

/// The largest static shared memory of a kernel that spills to it. Above it, no launch succeeds
/// unless the program sets an attribute of the function.
inline constexpr unsigned SmemSpillingLimitBytes = 48 * 1024;

} // namespace carve
