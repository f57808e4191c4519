/// \file
/// Makes the records of a compile's units from the files that nvcc kept. CompilePipeline stores
/// them.
#pragma once

#include "Nvcc/BuildPlan.h"
#include "Nvcc/CommandLine.h"
#include "Nvcc/Toolchain.h"
#include "Store/UnitStore.h"

#include <string>
#include <vector>

namespace carve {

/// Returns the record of \p Planned, whose files must still exist. Its blobs are put into \p Store,
/// but the record itself is not. Fails if a file cannot be read or the store cannot be written.
llvm::Expected<Unit> recordUnit(const DeviceUnit &Planned, const CommandLine &C, const Toolchain &T,
                                llvm::StringRef NvccVersion, llvm::StringRef WorkDir,
                                UnitStore &Store);

/// Returns the key of the unit that \p Source makes in command \p C.
std::string unitKeyOf(const CommandLine &C, llvm::StringRef Source, llvm::StringRef WorkDir);

/// Copies the decisions of \p From for the units of \p C into \p To.
void copyDecisions(const CommandLine &C, llvm::StringRef WorkDir, const UnitStore &From,
                   UnitStore &To);

} // namespace carve
