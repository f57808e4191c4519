/// \file
/// Front-end flavours for the emission inside a compile, be it nvcc's or one made from the store.
#pragma once

#include "Compile/Emission.h"

#include <functional>

namespace carve {

/// What EmitContext::FlavourPtx is to be for \p Units: from the store (FlavourPtx.h), and where the
/// unit's record does not have what is needed from the files in the keep directory. Sets
/// \p Missing where a flavour that was asked for could not be made. All that is passed by reference
/// outlives the result.
std::function<llvm::Expected<std::string>(const DeviceImage &, unsigned)>
flavoursOf(const std::vector<CompiledUnit> &Units, UnitStore &Store, const Toolchain &T,
           CommandRunner &Runner, bool &Missing);

} // namespace carve
