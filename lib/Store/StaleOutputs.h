/// \file
/// Outputs that hold other decisions than those of today, and how each comes to be made again.
#pragma once

#include "Store/UserProfile.h"

#include <string>
#include <vector>

namespace carve {

/// Whether the source or the output of \p U lies in one of \p Folders, or there are none.
bool isInOneOf(const Unit &U, llvm::ArrayRef<std::string> Folders);

struct StaleOutput {
  std::string Source, Output; ///< Absolute.
  RebuildCue Cue = RebuildCue::None;
  std::string Key; ///< Of the unit.
  /// Whether the store's decisions are other ones, and whether the profile is. A build system sees
  /// the former by the depfile, and of the latter only an edit of the file that was read.
  bool ByDecision = false, ByProfile = false;
};

/// The outputs of the store's units that the next compile would make otherwise: because their
/// decisions have changed since, or, with \p Profiles, what the user's profile says of them; and
/// those with a depfile that does not list the profile yet. By source. \p Folders: only what lies
/// in one of them; empty: all. Outputs and sources that are no longer there are left out.
std::vector<StaleOutput> staleOutputs(const UnitStore &Store, llvm::ArrayRef<std::string> Folders,
                                      CurrentProfiles *Profiles = nullptr);

/// What a person has to do about them, in a few lines; empty where there are none.
std::string rebuildAdvice(llvm::ArrayRef<StaleOutput> Stale);

/// The file whose date makes a build system make \p S again: the unit's decision file where the
/// depfile lists that, else the source.
llvm::Expected<std::string> cueFile(const StaleOutput &S, UnitStore &Store);

/// Renews the time of modification of \p File.
llvm::Error touchFile(llvm::StringRef File);

} // namespace carve
