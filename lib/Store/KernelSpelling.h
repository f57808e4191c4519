/// \file
/// Which kernels the name in a pin means. People copy names from sources, from c++filt, from
/// profilers and from our own reports, and all of these spell one kernel differently.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

/// A kernel under its two names.
struct KernelIdentity {
  std::string Name; ///< profileName().
  std::string Mangled;
};

/// \p Name without what does not tell kernels apart: the return type, white space, the place of
/// `const` before or after its type, `unsigned` for `unsigned int`, the parentheses of
/// `&(f(float))`, and c++filt's `{lambda(int)#1}` for LLVM's `'lambda'(int)`. Two names of one
/// kernel become the same text.
std::string canonicalKernelName(llvm::StringRef Name);

/// Whether \p Entry is a pattern: `/regex/`.
bool isKernelPattern(llvm::StringRef Entry);

/// Fails where \p Entry is a pattern that is no regular expression of RE2.
llvm::Error checkKernelPattern(llvm::StringRef Entry);

/// How an entry names a kernel, the most exact way first.
enum class NameMatch { Mangled, Name, Pattern, None };

/// How the pin \p Entry names \p Kernel. A pattern is searched for in both names.
NameMatch matchPin(llvm::StringRef Entry, const KernelIdentity &Kernel);

/// Up to three of \p Names that \p Entry, which names none of them, may have meant; the likeliest
/// first. Empty for a pattern.
std::vector<std::string> nearestNames(llvm::StringRef Entry, llvm::ArrayRef<std::string> Names);

} // namespace carve
