/// \file
/// Numbers and text as people read them, in one form everywhere.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace carve {

/// `12.5 %`; \p Digits: after the point.
std::string percentText(double Fraction, unsigned Digits = 0);

/// \p Text for element content and quoted attributes of HTML and XML. Bytes that are no UTF-8 and
/// characters that XML forbids become U+FFFD.
std::string markupText(llvm::StringRef Text);

} // namespace carve
