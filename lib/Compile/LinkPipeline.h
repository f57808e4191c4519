/// \file
/// The link of relocatable device code (-rdc=true): it runs nvcc once and records what was linked.
/// The record leads a tuning from the program's image to the units in it. Nothing is emitted here,
/// because tuned objects are linked like any others.
#pragma once

#include "Nvcc/LinkLine.h"
#include "Nvcc/Toolchain.h"
#include "Store/UnitStore.h"

#include <optional>
#include <string>

namespace carve {

struct LinkRequest {
  LinkLine Line;
  std::string WorkDir;
  GetEnv Env;
};

struct LinkResult {
  int ExitStatus = 0; ///< nvcc's exit status.
  int Signal = 0;     ///< The same as in CompileResult.
};

/// Links. Returns nothing if no input has relocatable device code; nvcc was then not started, and
/// the command must be handed to it. Fails with Unsupported before nvcc was started, and with other
/// errors only if nvcc cannot be started. Later failures are logged and counted in \p Store.
llvm::Expected<std::optional<LinkResult>> linkDeviceCode(const LinkRequest &Request,
                                                         UnitStore &Store, const Toolchain &T,
                                                         CommandRunner &Runner);

} // namespace carve
