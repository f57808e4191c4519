/// \file
/// What is written behind -Xptxas and -Xcompiler, as far as it decides whether carve can handle a
/// command: register caps, and options whose effect hangs on the name of the output.
#pragma once

#include "Nvcc/ArgumentList.h"

#include <optional>

namespace carve {

/// Whether \p A is -Xptxas.
bool isPtxasOptions(const Argument &A);

/// The words that ptxas receives from \p Arguments, -Xptxas of options files included.
std::vector<std::string> ptxasWords(llvm::ArrayRef<Argument> Arguments);

/// Fails with Unsupported where \p Words hold an option of ptxas that variants cannot be made
/// under.
llvm::Error checkPtxasWords(llvm::ArrayRef<std::string> Words);

/// The last `maxrregcount` among \p Words, as it is written; absent where there is none.
std::optional<std::string> ptxasRegisterCap(llvm::ArrayRef<std::string> Words);

/// \p Arguments with register caps removed, those of nvcc and those behind -Xptxas.
std::vector<Argument> withoutRegisterCaps(llvm::ArrayRef<Argument> Arguments);

/// Whether the host compiler, given \p Word, writes files beside the output, or another output.
bool writesBesideOutput(llvm::StringRef Word);

/// The words that the host compiler receives from the -Xcompiler list \p Value.
std::vector<std::string> hostCompilerWords(llvm::StringRef Value);

} // namespace carve
