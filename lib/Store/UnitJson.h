/// \file
/// The JSON form of the record of a unit. UnitStore writes and reads it.
#pragma once

#include "Store/Unit.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// Returns the record as JSON; the same unit gives the same bytes. Text that is not UTF-8 becomes
/// `{"hex": "..."}`, because a path may hold any bytes and every unit must read back unchanged.
std::string printUnit(const Unit &U);

/// Reads a record. Fails and names \p Name and the member with its actual and expected content.
/// Fails with NewerFormat if the record has another format.
llvm::Expected<Unit> parseUnit(llvm::StringRef Json, llvm::StringRef Name);

} // namespace carve
