/// \file
/// The keys that name the records of the store. A unit or device link is named by its project and
/// paths, not by content that an edit changes.
#pragma once

#include "Store/Unit.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace carve {

/// Returns the key of a unit: a digest of project root, source and output, each made absolute with
/// \p Directory and normalised. Nothing that an edit changes is part of it.
std::string unitKey(llvm::StringRef Project, llvm::StringRef Directory, llvm::StringRef Source,
                    llvm::StringRef Output);

/// Returns the key of a device link, made like unitKey() but without a source.
std::string linkKey(llvm::StringRef Project, llvm::StringRef Directory, llvm::StringRef Output);

/// Returns the root of the project that \p Directory belongs to: the nearest parent with `.git`,
/// otherwise \p Directory itself.
std::string projectRoot(llvm::StringRef Directory);

/// Returns the path of \p U's source in its project, which is the same on every machine; only the
/// file's name if the source lies outside.
std::string sourceInProject(const Unit &U);

} // namespace carve
