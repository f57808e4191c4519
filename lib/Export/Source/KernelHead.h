/// \file
/// Reads the head of a declaration, its tokens before `{` or `;`: a kernel's name, parameters and
/// attributes, or the name of a class.
#pragma once

#include "Export/Source/CudaTokens.h"
#include "Export/Source/KernelSource.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>

namespace carve {

/// The kernel that \p Head declares, named as its declarator names it, its line that of the text;
/// nothing where it declares none.
std::optional<KernelPlace> kernelOf(llvm::ArrayRef<CudaToken> Head);

/// The class that a brace behind \p Head opens; empty where it opens none.
std::string classOf(llvm::ArrayRef<CudaToken> Head);

/// Index behind the bracket that closes the one at \p Open, one of `(`, `[`, `{` and `<`; the size
/// where none does. Within `<` parentheses are passed over whole.
size_t behindBracket(llvm::ArrayRef<CudaToken> Tokens, size_t Open);

/// The tokens with one blank between them.
std::string joinTokens(llvm::ArrayRef<CudaToken> Tokens);

/// \p Tokens cut at commas outside of brackets.
std::vector<llvm::ArrayRef<CudaToken>> splitAtCommas(llvm::ArrayRef<CudaToken> Tokens);

} // namespace carve
