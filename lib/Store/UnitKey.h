/// \file
/// What names the records of the store: units and device links by what was compiled where, and
/// nothing that an edit changes.
#pragma once

#include "Store/Unit.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace carve {

/// Names a unit: project root, source and output, each made absolute and normalised, and nothing
/// that an edit changes.
std::string unitKey(llvm::StringRef Project, llvm::StringRef Directory, llvm::StringRef Source,
                    llvm::StringRef Output);

/// Names a device link: as unitKey(), but of no source.
std::string linkKey(llvm::StringRef Project, llvm::StringRef Directory, llvm::StringRef Output);

/// The root of the project that \p Directory belongs to: the nearest parent with `.git`, else
/// \p Directory itself.
std::string projectRoot(llvm::StringRef Directory);

/// Where \p U's source lies in its project, the same on every machine; the file's name alone where
/// it lies outside.
std::string sourceInProject(const Unit &U);

} // namespace carve
