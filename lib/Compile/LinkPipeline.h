/// \file
/// The link of relocatable device code (-rdc=true): nvcc once, and a record of what it linked,
/// which leads a tuning from the program's image to the units in it. Nothing is emitted here: tuned
/// objects are linked like any others.
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
  int ExitStatus = 0; ///< nvcc's.
  int Signal = 0;     ///< As in CompileResult.
};

/// Links. Returns nothing if no input has relocatable device code: the command is then nvcc's,
/// which was not started. Fails with Unsupported before nvcc was started, and with other errors
/// only if nvcc cannot be started; what fails afterwards is logged and counted in \p Store.
llvm::Expected<std::optional<LinkResult>> linkDeviceCode(const LinkRequest &Request,
                                                         UnitStore &Store, const Toolchain &T,
                                                         CommandRunner &Runner);

} // namespace carve
