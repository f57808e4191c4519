/// \file
/// The index of a capture file as JSON.
#pragma once

#include "Captures/File/CaptureFile.h"

namespace carve {

inline constexpr int64_t CaptureFormat = 1;

std::string printCaptureIndex(const Capture &C, llvm::ArrayRef<CaptureSection> Sections);

/// Fails naming \p Name where \p Json is none, or speaks of sections that are not there.
llvm::Error parseCaptureIndex(llvm::StringRef Json, llvm::StringRef Name, Capture &C,
                              std::vector<CaptureSection> &Sections);

} // namespace carve
