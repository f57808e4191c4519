/// \file
/// Reads the values of -Xptxas and -Xcompiler as far as they decide whether carve can handle a
/// command: register caps, and options whose effect depends on the name of the output.
#pragma once

#include "Nvcc/ArgumentList.h"

#include <optional>

namespace carve {

/// Returns true if \p A is -Xptxas.
bool isPtxasOptions(const Argument &A);

/// Returns the words that ptxas receives from \p Arguments, including -Xptxas in options files.
std::vector<std::string> ptxasWords(llvm::ArrayRef<Argument> Arguments);

/// Fails with Unsupported if \p Words hold an option of ptxas with which no variants can be made.
llvm::Error checkPtxasWords(llvm::ArrayRef<std::string> Words);

/// Returns the last `maxrregcount` among \p Words as it is written; nothing if there is none.
std::optional<std::string> ptxasRegisterCap(llvm::ArrayRef<std::string> Words);

/// Returns \p Arguments without register caps, those of nvcc and those of -Xptxas.
std::vector<Argument> withoutRegisterCaps(llvm::ArrayRef<Argument> Arguments);

/// Returns true if \p Word makes the host compiler write files beside the output, or another
/// output.
bool writesBesideOutput(llvm::StringRef Word);

/// Returns the words that the host compiler receives from the -Xcompiler list \p Value.
std::vector<std::string> hostCompilerWords(llvm::StringRef Value);

} // namespace carve
