/// \file
/// What the tests of lib/Nvcc share: recorded inputs, and the reason of a refusal.
#pragma once

#include "Nvcc/CommandLine.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "gtest/gtest.h"

#include <string>
#include <vector>

namespace carve {

using Words = std::vector<std::string>;

/// The file \p Name of test/Inputs/nvcc.
inline std::string recorded(const std::string &Name) {
  return llvm::cantFail(readFile(std::string(CARVE_TEST_INPUTS) + "/nvcc/" + Name));
}

/// The identifier of an Unsupported; `other: <message>` of any other error.
inline std::string reasonOf(llvm::Error E) {
  std::string Reason;
  llvm::handleAllErrors(
      std::move(E), [&](const Unsupported &U) { Reason = U.reason(); },
      [&](const llvm::ErrorInfoBase &Other) { Reason = "other: " + Other.message(); });
  return Reason;
}

/// `object`, `executable` or `shared` where carve handles \p Arguments, else the reason why not.
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

/// The command, which must be one that carve handles.
inline CommandLine parsed(const Words &Arguments, const NvccEnvironment &Env = {"", "", "/none"}) {
  llvm::Expected<CommandLine> C = parseCommandLine(Arguments, Env);
  if (C)
    return *C;
  ADD_FAILURE() << llvm::toString(C.takeError());
  return {};
}

} // namespace carve
