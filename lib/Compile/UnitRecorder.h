/// \file
/// From a compile that was kept to the records of its units in the store.
#pragma once

#include "Nvcc/BuildPlan.h"
#include "Nvcc/CommandLine.h"
#include "Nvcc/Toolchain.h"
#include "Store/UnitStore.h"

#include <string>
#include <vector>

namespace carve {

/// The record of \p Planned, whose files are still there; its blobs go into \p Store, itself not
/// yet. Fails where a file cannot be read or the store cannot be written.
llvm::Expected<Unit> recordUnit(const DeviceUnit &Planned, const CommandLine &C, const Toolchain &T,
                                llvm::StringRef NvccVersion, llvm::StringRef WorkDir,
                                UnitStore &Store);

/// Key of the unit that \p Source makes in command \p C.
std::string unitKeyOf(const CommandLine &C, llvm::StringRef Source, llvm::StringRef WorkDir);

/// Copies what \p From has decided for the units of \p C into \p To.
void copyDecisions(const CommandLine &C, llvm::StringRef WorkDir, const UnitStore &From,
                   UnitStore &To);

/// decisionDigest() of every entry of \p Images' PTX: what a tuning of the unit has looked at.
/// Sorted; a changed or new kernel changes the list, an edit elsewhere does not. With \p AddedArchs
/// also what the entries would be called in images added for these (ImageOrigin::FromPtx).
llvm::Expected<std::vector<std::string>> kernelDigests(const Unit &U, const UnitStore &Store,
                                                       llvm::ArrayRef<std::string> AddedArchs = {});

} // namespace carve
