/// \file
/// Finds the kernels that the name in a pin means. People copy names from sources, from c++filt,
/// from profilers and from our own reports, and each of these spells the same kernel differently.
/// Profile uses it to match its entries.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

/// A kernel under both of its names.
struct KernelIdentity {
  std::string Name; ///< The result of profileName().
  std::string Mangled;
};

/// Returns \p Name without the parts that do not distinguish kernels: the return type, white space,
/// the place of `const` before or after its type, `unsigned` for `unsigned int`, the parentheses of
/// `&(f(float))`, and c++filt's `{lambda(int)#1}` for LLVM's `'lambda'(int)`. Two names of one
/// kernel give the same text.
std::string canonicalKernelName(llvm::StringRef Name);

/// Returns true if \p Entry is a pattern, `/regex/`.
bool isKernelPattern(llvm::StringRef Entry);

/// Fails if \p Entry is a pattern that RE2 does not accept as a regular expression.
llvm::Error checkKernelPattern(llvm::StringRef Entry);

/// The ways in which an entry names a kernel, the most exact one first.
enum class NameMatch { Mangled, Name, Pattern, None };

/// Returns how the pin \p Entry names \p Kernel. A pattern is searched for in both names.
NameMatch matchPin(llvm::StringRef Entry, const KernelIdentity &Kernel);

/// Returns up to three of \p Names that \p Entry may have meant, the likeliest first. \p Entry must
/// not name any of them. The result is empty for a pattern.
std::vector<std::string> nearestNames(llvm::StringRef Entry, llvm::ArrayRef<std::string> Names);

} // namespace carve
