/// \file
/// Recorded files and small PTX texts that the tests of Ptx share.
#pragma once

#include "Ptx/PtxModule.h"
#include "Support/Files.h"

#include "llvm/ADT/Twine.h"

#include <gtest/gtest.h>

namespace carve {

/// Returns the recorded file \p Name of test/Inputs/ptx. If it cannot be read, the test fails and
/// the result is empty.
inline std::string recorded(const llvm::Twine &Name) {
  auto Bytes = readFile((llvm::Twine(CARVE_TEST_INPUTS "/ptx/") + Name).str());
  if (!Bytes) {
    ADD_FAILURE() << llvm::toString(Bytes.takeError());
    return "";
  }
  return *Bytes;
}

/// Returns the recorded image of the test kernels for \p Arch.
inline std::string recordedCubin(llvm::StringRef Arch) {
  return recorded("kernels." + Arch + ".cuda-13.0.88.cubin");
}

/// Returns \p Statements after the lines that every module starts with.
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

/// Returns the message of the error in \p Value; empty for success.
template <typename T> std::string messageOf(llvm::Expected<T> Value) {
  return Value ? "" : llvm::toString(Value.takeError());
}

} // namespace carve
