/// \file
/// The last stage of a compile: it puts the units' decisions into the object or the executable.
#pragma once

#include "Compile/OutputPlace.h"
#include "Emit/UnitEmitter.h"
#include "Nvcc/CommandLine.h"
#include "Store/UnitStore.h"

#include <string>
#include <vector>

namespace carve {

/// One unit of the command, with its record and its decisions.
struct CompiledUnit {
  DeviceUnit Planned;
  Unit Record;
  Profile Decisions;
  /// Further entries were left out because HostCommand is not known, as in a compile from the
  /// store.
  bool NeedsHostCommand = false;
};

struct EmissionRequest {
  const CommandLine &Line;
  const EmitContext &Context;
  std::string WorkDir;
  std::string KeepDir;
  const Profile *UserProfile = nullptr; ///< It precedes the units' own decisions.
};

/// Emits the decisions: objects are spliced, executables are linked again from spliced objects, and
/// a file cap is another run of nvcc with that cap. The output is replaced by one rename, or not at
/// all if no decision changes anything. Fails if that is impossible; \p Output is then still
/// nvcc's.
llvm::Error emitDecisions(const EmissionRequest &Request, std::vector<CompiledUnit> &Units,
                          OutputPlace &Output, UnitStore &Store);

} // namespace carve
