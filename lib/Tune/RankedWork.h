/// \file
/// Does work once for all ranks of a parallel launch: rank 0 does it, and the others wait until it
/// is done and end as it did. So they find the same decisions, and no two ranks write one profile.
#pragma once

#include "Command/CommandContext.h"
#include "Command/LaunchedRank.h"
#include "Store/UnitStore.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <chrono>

namespace carve {

/// How ranks wait for rank 0.
struct RankPatience {
  std::chrono::milliseconds Beat{5000};   ///< Rank 0 says this often that it lives.
  std::chrono::milliseconds Quiet{60000}; ///< After this time without a word it does not.
};

/// Calls \p Work if this process is rank 0 of \p Rank or no rank, and returns its result. Otherwise
/// waits until rank 0 has called it for the same words \p Args; they meet in the store. Fails if
/// rank 0 failed or is not heard of. If the launcher has no name for the launch, the ranks cannot
/// meet, and the call returns at once without doing anything.
llvm::Error onceForAllRanks(const std::optional<LaunchedRank> &Rank,
                            llvm::ArrayRef<std::string> Args, UnitStore &Store,
                            llvm::function_ref<llvm::Error()> Work,
                            const RankPatience &Patience = {});

/// Does the same for a command of `carve` with the words \p Args: \p Work gets the store of
/// \p Context. Fails also if there is no folder for a store.
llvm::Error onceForAllRanks(llvm::ArrayRef<std::string> Args, const CommandContext &Context,
                            llvm::function_ref<llvm::Error(UnitStore &)> Work);

} // namespace carve
