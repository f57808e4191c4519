/// \file
/// Provides the PTX that cicc makes at other register caps (front-end flavours, Store/FlavourPtx.h)
/// for the emission in a compile, whether nvcc runs or the object is made from the store.
#pragma once

#include "Compile/Emission.h"

#include <functional>

namespace carve {

/// Returns the function for EmitContext::FlavourPtx for \p Units. It takes flavours from the store
/// (FlavourPtx.h), or makes them from the files in the keep directory if the unit's record lacks
/// what is needed. \p Missing is set if a requested flavour could not be made. All references must
/// outlive the result.
std::function<llvm::Expected<std::string>(const DeviceImage &, const FrontEndSetting &)>
flavoursOf(const std::vector<CompiledUnit> &Units, UnitStore &Store, const Toolchain &T,
           CommandRunner &Runner, bool &Missing);

} // namespace carve
