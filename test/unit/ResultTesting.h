/// \file
/// What a test wants of a result that may be an error: the value, or the message.
#pragma once

#include "llvm/Support/Error.h"

#include "gtest/gtest.h"

#include <string>

namespace carve {

template <typename T> T valueOf(llvm::Expected<T> Result) {
  if (Result)
    return std::move(*Result);
  ADD_FAILURE() << llvm::toString(Result.takeError());
  return T();
}

template <typename T> std::string messageOf(llvm::Expected<T> Result) {
  return Result ? "" : llvm::toString(Result.takeError());
}

inline std::string messageOf(llvm::Error Result) { return llvm::toString(std::move(Result)); }

} // namespace carve
