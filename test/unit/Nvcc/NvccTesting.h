/// \file
/// The functions that the tests of lib/Nvcc share: they read recorded inputs and return the reason
/// of a refusal.
#pragma once

#include "Nvcc/CommandLine.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "gtest/gtest.h"

#include <string>
#include <vector>

namespace carve {

using Words = std::vector<std::string>;

/// Returns the file \p Name of test/Inputs/nvcc.
inline std::string recorded(const std::string &Name) {
  return llvm::cantFail(readFile(std::string(CARVE_TEST_INPUTS) + "/nvcc/" + Name));
}

/// Returns the reason of an Unsupported, or `other: <message>` for any other error.
inline std::string reasonOf(llvm::Error E) {
  std::string Reason;
  llvm::handleAllErrors(
      std::move(E), [&](const Unsupported &U) { Reason = U.reason(); },
      [&](const llvm::ErrorInfoBase &Other) { Reason = "other: " + Other.message(); });
  return Reason;
}

/// Returns `object`, `executable` or `shared` if carve handles \p Arguments, else the reason why
/// not.
inline std::string verdict(const Words &Arguments, const NvccEnvironment &Env = {"", "", "/none"}) {
  llvm::Expected<CommandLine> C = parseCommandLine(Arguments, Env);
  if (!C)
    return reasonOf(C.takeError());
  switch (C->Makes) {
  case Product::Object:
    return "object";
  case Product::SharedObject:
    return "shared";
  case Product::Executable:
    return "executable";
  }
  return "";
}

/// Returns the parsed command. The test fails if carve does not handle it.
inline CommandLine parsed(const Words &Arguments, const NvccEnvironment &Env = {"", "", "/none"}) {
  llvm::Expected<CommandLine> C = parseCommandLine(Arguments, Env);
  if (C)
    return *C;
  ADD_FAILURE() << llvm::toString(C.takeError());
  return {};
}

} // namespace carve
