/// \file
/// The JSON form of the record of a device link. UnitStore writes and reads it.
#pragma once

#include "Store/DeviceLink.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// Returns the record as JSON, under the same rules as printUnit().
std::string printLink(const DeviceLink &L);

/// Reads a record. Fails as parseUnit() does; \p Name is for messages.
llvm::Expected<DeviceLink> parseLink(llvm::StringRef Json, llvm::StringRef Name);

} // namespace carve
