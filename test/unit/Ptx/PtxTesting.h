/// \file
/// What the tests of Ptx share: recorded files and small PTX texts.
#pragma once

#include "Ptx/PtxModule.h"
#include "Support/Files.h"

#include "llvm/ADT/Twine.h"

#include <gtest/gtest.h>

namespace carve {

/// The recorded file \p Name of test/Inputs/ptx; empty, and a failure, where it cannot be read.
inline std::string recorded(const llvm::Twine &Name) {
  auto Bytes = readFile((llvm::Twine(CARVE_TEST_INPUTS "/ptx/") + Name).str());
  if (!Bytes) {
    ADD_FAILURE() << llvm::toString(Bytes.takeError());
    return "";
  }
  return *Bytes;
}

/// \p Statements below the lines that every module starts with.
inline std::string ptx(llvm::StringRef Statements) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n" + Statements.str();
}

inline PtxModule parsed(std::string Text) {
  auto Module = PtxModule::parse(std::move(Text));
  if (!Module) {
    ADD_FAILURE() << llvm::toString(Module.takeError());
    return llvm::cantFail(PtxModule::parse(ptx("")));
  }
  return *Module;
}

/// The message of an error or of the error in an Expected; empty for success.
template <typename T> std::string messageOf(llvm::Expected<T> Value) {
  return Value ? "" : llvm::toString(Value.takeError());
}

} // namespace carve
