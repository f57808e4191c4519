/// \file
/// From a device link that was kept to its record in the store.
#pragma once

#include "Nvcc/BuildPlan.h"
#include "Nvcc/Toolchain.h"
#include "Store/UnitStore.h"

#include <string>
#include <vector>

namespace carve {

/// The command that linked.
struct LinkCommand {
  std::vector<std::string> Argv;
  std::string Output;
  std::string WorkDir;
  std::string NvccVersion;
};

/// Makes the record of \p Planned, whose files are still there, and puts it into \p Store with the
/// linked cubins; where no input has relocatable device code, there is nothing to record. Fails
/// where a file cannot be read or the store cannot be written.
llvm::Error recordLink(const PlannedLink &Planned, const LinkCommand &C, const Toolchain &T,
                       UnitStore &Store);

} // namespace carve
