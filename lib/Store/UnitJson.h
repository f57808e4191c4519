/// \file
/// The JSON form of a unit's record, as the store keeps it.
#pragma once

#include "Store/Unit.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// The record as JSON, the same bytes for the same unit. Text that is no UTF-8 (a path may be
/// anything) becomes `{"hex": "..."}`, so that every unit survives the way there and back.
std::string printUnit(const Unit &U);

/// Reads a record. Fails naming \p Name and the member with its actual and expected content; a
/// record written in a newer format fails as such.
llvm::Expected<Unit> parseUnit(llvm::StringRef Json, llvm::StringRef Name);

} // namespace carve
