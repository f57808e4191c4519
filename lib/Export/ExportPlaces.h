/// \file
/// The stage of an export that finds the definitions of kernels in the sources, and forms the text
/// of the attributes that are written there.
#pragma once

#include "Export/ExportJob.h"

namespace carve {

/// Returns the registers that the entry has. This is what CapLikeDefault answers if no compiler is
/// available to try caps.
unsigned defaultRegs(const ExportImage &I, llvm::StringRef Mangled);

/// Finds the definition of each item in the sources. If it is not found, Out.Reason says why.
void locateItems(ExportJob &Job);

/// Returns the definition of the entry \p Mangled of an image: its file and the index of the kernel
/// in that file. Fails with a message for the user.
llvm::Expected<std::pair<SourceFile *, size_t>>
locateKernel(ExportJob &Job, const ExportUnit &U, const ExportImage &I, llvm::StringRef Mangled);

/// Returns the attribute of \p G as it is written, in the chosen form. Fails if one attribute
/// cannot express the decisions of all items.
llvm::Expected<std::string> attributeText(ExportJob &Job, const ExportGroup &G);

/// Returns for each file the edits that put \p Text on the definition of \p G and on those
/// declarations that already have an attribute.
std::map<SourceFile *, std::vector<SourceEdit>> attributeEdits(ExportJob &Job, const ExportGroup &G,
                                                               llvm::StringRef Text);

} // namespace carve
