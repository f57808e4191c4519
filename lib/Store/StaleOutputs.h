/// \file
/// Finds outputs that hold other decisions than the current ones, and says how each can be made
/// again. `carve touch` and the advice after a tuning use it.
#pragma once

#include "Store/UserProfile.h"

#include <string>
#include <vector>

namespace carve {

/// Returns true if the source or the output of \p U lies in one of \p Folders, or if \p Folders is
/// empty.
bool isInOneOf(const Unit &U, llvm::ArrayRef<std::string> Folders);

/// An output that the next compile would make differently.
struct StaleOutput {
  std::string Source, Output; ///< Absolute.
  RebuildCue Cue = RebuildCue::None;
  std::string Key; ///< The key of the unit.
  /// Which of the two has changed: the store's decisions, the profile, or both. A build system sees
  /// changed decisions through the depfile; of a changed profile it sees only an edit of the file
  /// that was read.
  bool ByDecision = false, ByProfile = false;
  /// The depfile lists the decisions, but no file that it lists is newer than the output.
  bool Unseen = false;
};

/// Returns the outputs of the store's units that the next compile would make differently, sorted by
/// source. An output is stale if its decisions have changed since its last compile, or, if \p
/// Profiles is given, if the user's profile says something else about it or its depfile does not
/// list the profile yet. \p Folders limits the result to outputs and sources in these folders;
/// empty means all. Outputs and sources that no longer exist are left out.
std::vector<StaleOutput> staleOutputs(const UnitStore &Store, llvm::ArrayRef<std::string> Folders,
                                      CurrentProfiles *Profiles = nullptr);

/// Returns a few lines that tell the user what to do about \p Stale; empty if there is nothing to
/// do.
std::string rebuildAdvice(llvm::ArrayRef<StaleOutput> Stale);

/// Returns the file whose date makes a build system make \p S again: the unit's decision file if
/// the depfile lists it, otherwise the source.
llvm::Expected<std::string> cueFile(const StaleOutput &S, UnitStore &Store);

/// Sets the modification time of \p File to now.
llvm::Error touchFile(llvm::StringRef File);

} // namespace carve
