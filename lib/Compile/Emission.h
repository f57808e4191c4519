/// \file
/// The last stage of a compile: the units' decisions into the object or the executable.
#pragma once

#include "Compile/OutputPlace.h"
#include "Emit/UnitEmitter.h"
#include "Nvcc/CommandLine.h"
#include "Store/UnitStore.h"

#include <string>
#include <vector>

namespace carve {

/// One unit of the command with its record and what has been decided for it.
struct CompiledUnit {
  DeviceUnit Planned;
  Unit Record;
  Profile Decisions;
};

struct EmissionRequest {
  const CommandLine &Line;
  const EmitContext &Context;
  std::string WorkDir;
  std::string KeepDir;
  const Profile *UserProfile = nullptr; ///< Goes before the units' own decisions.
};

/// Emits: objects are spliced, executables linked again from spliced objects, and a file cap is a
/// run of nvcc with it. The output is replaced in one rename, and not at all where no decision
/// changes anything. Fails where that could not be done; \p Output then still is nvcc's.
llvm::Error emitDecisions(const EmissionRequest &Request, std::vector<CompiledUnit> &Units,
                          OutputPlace &Output, UnitStore &Store);

} // namespace carve
