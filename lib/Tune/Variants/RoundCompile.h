/// \file
/// Compiles the settings of a round until its time is used up, and says how many of them its
/// modules have time for. VariantRounds decides what is wanted, and VariantCompiler compiles it.
#pragma once

#include "Tune/Variants/JoinedModules.h"

#include "llvm/ADT/ArrayRef.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace carve {

/// Compiles \p Wanted from the first on, for at most \p LimitS seconds if there is a limit, and
/// returns what was compiled. PTX of other front ends is made meanwhile, and awaited last, for \p
/// PatienceS seconds more.
std::vector<std::pair<SettingRequest, CompiledSetting>>
compileInTime(VariantCompiler &Compiler, llvm::ArrayRef<SettingRequest> Wanted,
              std::optional<double> LimitS, double PatienceS);

/// How many of the settings \p Compiled, which are in the order of their weights, may come into the
/// modules of a round, by kernel, if ptxas may take \p LimitS seconds for them; four in any case,
/// and all without a limit. What ptxas took for a kernel's default tells how long a variant of it
/// takes there: less than alone, because ptxas assembles the kernels of a module at once. Variants
/// of kernels all of whose modules are joined (JoinedModules) need no ptxas.
std::map<size_t, size_t> roomInModule(const VariantCompiler &Compiler, const JoinedModules &Joined,
                                      llvm::ArrayRef<SettingRequest> Compiled,
                                      std::optional<double> LimitS);

} // namespace carve
