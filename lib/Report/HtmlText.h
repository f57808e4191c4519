/// \file
/// Names and numbers for the page of a report, short enough for tables and pictures.
#pragma once

#include "Support/Text.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace carve {

/// A kernel's name cut where people stop reading: `ns::kernel` and `<float>(float*, int)`. A
/// template's return type is in neither.
struct KernelNameParts {
  llvm::StringRef Name, Rest;
};
KernelNameParts kernelNameParts(llvm::StringRef Demangled);

/// A kernel's name as two spans, `base` and `signature`, each of at most \p Most bytes and then an
/// ellipsis; the former is a link where \p Link is not empty.
std::string kernelNameHtml(llvm::StringRef Demangled, size_t Most, llvm::StringRef Link = "");

std::string percentHtml(double Fraction, unsigned Digits = 0); ///< `12.5 %`, with a no-break space.
std::string occupancyText(double Fraction);                    ///< `12.5 %`, `50 %`
std::string fixedText(double Value, unsigned Digits);          ///< `0.123`
/// Three digits and a unit: `1.24 ms`.
std::string durationText(double Ns);
/// Four digits: `0.1234`, `1.2e-09`.
std::string shortNumber(double Value);
/// With a no-break space between thousands.
std::string countText(uint64_t Count);

} // namespace carve
