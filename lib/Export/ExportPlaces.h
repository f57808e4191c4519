/// \file
/// The stage of an export that finds the kernels' definitions in the sources, and what can be
/// written there.
#pragma once

#include "Export/ExportJob.h"

namespace carve {

/// What CapLikeDefault would answer where nothing can be tried: the registers that the entry has.
unsigned defaultRegs(const ExportImage &I, llvm::StringRef Mangled);

/// Finds the definition of each item in the sources; says in Out.Reason why where it does not.
void locateItems(ExportJob &Job);

/// Finds the definition of the entry \p Mangled of an image. Fails with what a person has to know.
llvm::Expected<std::pair<SourceFile *, size_t>>
locateKernel(ExportJob &Job, const ExportUnit &U, const ExportImage &I, llvm::StringRef Mangled);

/// The attribute of \p G as it is written, in its chosen form. Fails where one attribute cannot say
/// what the items have.
llvm::Expected<std::string> attributeText(ExportJob &Job, const ExportGroup &G);

/// The edits that put \p Text on the definition of \p G, and on declarations that have an attribute
/// already, by file.
std::map<SourceFile *, std::vector<SourceEdit>> attributeEdits(ExportJob &Job, const ExportGroup &G,
                                                               llvm::StringRef Text);

} // namespace carve
