/// \file
/// The decisions that a site offers to all its users, in the site's store. They are kept by kernel,
/// not by unit, because a unit is named by the paths of one user. `carve store publish` writes
/// them, and compiles of users with `$CARVE_STORE_SITE` read them.
///
///   published/<xx>/<name>-<content>.yaml  one decision, as a profile. <name> is the digest of the
///                                         kernel's name, <content> that of the file
///   published/<xx>/digest                 digest of the names of the folder's files. Depfiles list
///                                         it, so it is dated when one of the decisions changed
///   published.digest                      digest of all, for compiler caches
///
/// A record never changes after it has its name, so a reader needs no lock. The digests only say
/// that something changed. One that a killed writer left as it was is put right by the next.
#pragma once

#include "Store/Profile.h"
#include "Store/UnitStore.h"
#include "Support/LinkLock.h"

#include <cstdint>

namespace carve {

/// Returns the decisions that \p Site has published for kernels with these names, the one with the
/// latest evidence last. They may be for other code of that name. What cannot be read is left out,
/// which is logged.
std::vector<Decision> publishedDecisions(const UnitStore &Site,
                                         llvm::ArrayRef<KernelIdentity> Kernels);

/// Returns the files of the site's store above \p Store that change when a decision for a kernel of
/// \p U is published or withdrawn. Returns those that exist, sorted, each once.
std::vector<std::string> publishedDigests(const Unit &U, const UnitStore &Store);

/// Returns true if \p Site has ever published a decision.
bool hasPublished(const UnitStore &Site);

/// Returns the path of the file whose content changes with every published decision.
std::string allPublishedFile(const UnitStore &Site);

/// Returns the paths of all digests of \p Site, whether they exist or not; none if nothing was ever
/// published there.
std::vector<std::string> publishedDigestFiles(const UnitStore &Site);

/// Fails unless \p Text is what a published decision with the file name \p Name, without extension,
/// holds.
llvm::Error checkPublished(llvm::StringRef Name, llvm::StringRef Text);

/// What publish() did.
struct Publication {
  uint64_t New = 0;      ///< Decisions that the site did not have.
  uint64_t Replaced = 0; ///< Of these: in place of one with earlier evidence.
  uint64_t Known = 0;    ///< Decisions that the site had, or has with later evidence.
  uint64_t Records = 0;  ///< Units and device links that were written.
};

/// Merges into \p Site what tunings have decided in \p From: the decisions with their evidence, the
/// units that have them, and the device links, with their blobs. Decisions that were made by hand,
/// and caps of whole files, stay in \p From. \p Alone is the lock at publishLockPath(). Fails if
/// something cannot be written; what was written until then is whole.
llvm::Expected<Publication> publish(const UnitStore &From, UnitStore &Site, LinkLock &Alone);

} // namespace carve
