/// \file
/// Makes names and numbers for the page of a report that are short enough for tables and plots.
#pragma once

#include "Support/Text.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace carve {

/// A kernel's name, divided into the part that people read, `ns::kernel`, and the rest,
/// `<float>(float*, int)`. The return type of a template is in neither.
struct KernelNameParts {
  llvm::StringRef Name, Rest;
};
/// Divides the demangled name \p Demangled; the parts point into it.
KernelNameParts kernelNameParts(llvm::StringRef Demangled);

/// Returns a kernel's name as two spans, `base` and `signature`. Each has at most \p Most bytes and
/// then an ellipsis. The base is a link if \p Link is not empty.
std::string kernelNameHtml(llvm::StringRef Demangled, size_t Most, llvm::StringRef Link = "");

std::string percentHtml(double Fraction, unsigned Digits = 0); ///< `12.5 %`, with a no-break space.
std::string occupancyText(double Fraction);                    ///< `12.5 %`, `50 %`
std::string fixedText(double Value, unsigned Digits);          ///< `0.123`
/// Returns three digits and a unit: `1.24 ms`.
std::string durationText(double Ns);
/// Returns four digits: `0.1234`, `1.2e-09`.
std::string shortNumber(double Value);
/// Returns \p Count with a no-break space between thousands.
std::string countText(uint64_t Count);

} // namespace carve
