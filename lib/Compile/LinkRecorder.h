/// \file
/// Makes the record of a device link from the files that nvcc kept, and stores it.
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

/// Makes the record of \p Planned, whose files must still exist, and puts it into \p Store with the
/// linked cubins. Does nothing if no input has relocatable device code. Fails if a file cannot be
/// read or the store cannot be written.
llvm::Error recordLink(const PlannedLink &Planned, const LinkCommand &C, const Toolchain &T,
                       UnitStore &Store);

} // namespace carve
