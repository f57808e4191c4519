/// \file
/// Reads the head of a declaration, that is, its tokens before `{` or `;`: a kernel's name,
/// parameters and attributes, or the name of a class. KernelSource calls it for each declaration.
#pragma once

#include "Export/Source/CudaTokens.h"
#include "Export/Source/KernelSource.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>

namespace carve {

/// Returns the kernel that \p Head declares, or nothing if it declares none. The name is as the
/// declarator has it, and the line is the line in the text.
std::optional<KernelPlace> kernelOf(llvm::ArrayRef<CudaToken> Head);

/// Returns the name of the class whose body the brace after \p Head opens, or an empty string if it
/// is not a class.
std::string classOf(llvm::ArrayRef<CudaToken> Head);

/// Returns the index after the bracket that closes the one at \p Open, which is `(`, `[`, `{` or
/// `<`. If no bracket closes it, returns the number of tokens. Inside `<`, parentheses are skipped
/// as a whole, since they may contain `>`.
size_t behindBracket(llvm::ArrayRef<CudaToken> Tokens, size_t Open);

/// Returns the tokens with one blank between them.
std::string joinTokens(llvm::ArrayRef<CudaToken> Tokens);

/// Splits \p Tokens at commas outside of brackets.
std::vector<llvm::ArrayRef<CudaToken>> splitAtCommas(llvm::ArrayRef<CudaToken> Tokens);

} // namespace carve
