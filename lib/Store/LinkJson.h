/// \file
/// The JSON form of a device link's record, as the store keeps it.
#pragma once

#include "Store/DeviceLink.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// As printUnit().
std::string printLink(const DeviceLink &L);

/// As parseUnit().
llvm::Expected<DeviceLink> parseLink(llvm::StringRef Json, llvm::StringRef Name);

} // namespace carve
