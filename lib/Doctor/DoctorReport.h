/// \file
/// Findings as text, one line each, and as JSON.
#pragma once

#include "Doctor/Findings.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"

#include <string>

namespace carve {

/// Whether one of \p Findings is a fault.
bool hasFault(llvm::ArrayRef<DoctorFinding> Findings);

/// `ok    nvcc: /usr/local/cuda/bin/nvcc, 13.0.88`, with the advice after a semicolon.
std::string doctorText(llvm::ArrayRef<DoctorFinding> Findings);

llvm::json::Value doctorJson(llvm::ArrayRef<DoctorFinding> Findings);

} // namespace carve
