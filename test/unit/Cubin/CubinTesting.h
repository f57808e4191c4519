/// \file
/// What tests of images share.
#pragma once

#include "Support/Error.h"

#include <string>

namespace carve {

/// The identifier of the reason for which \p Result failed, or its message if it has none; empty if
/// it did not fail.
inline std::string reasonOf(llvm::Expected<std::string> Result) {
  std::string Reason;
  if (!Result)
    llvm::handleAllErrors(
        Result.takeError(), [&](const Unsupported &U) { Reason = U.reason(); },
        [&](const llvm::ErrorInfoBase &E) { Reason = E.message(); });
  return Reason;
}

} // namespace carve
