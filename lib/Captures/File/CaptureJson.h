/// \file
/// Converts the index of a capture file to JSON and back. CaptureFile.cpp compresses it and stores
/// it.
#pragma once

#include "Captures/File/CaptureFile.h"

namespace carve {

/// The version of the file's format.
inline constexpr int64_t CaptureFormat = 1;

/// Returns the index as text. The place of a section in \p Sections is its number minus 1.
std::string printCaptureIndex(const Capture &C, llvm::ArrayRef<CaptureSection> Sections);

/// Reads \p Json into \p C and \p Sections. Fails, with \p Name in the message, if \p Json is not
/// such an index, or if its sections cannot be right.
llvm::Error parseCaptureIndex(llvm::StringRef Json, llvm::StringRef Name, Capture &C,
                              std::vector<CaptureSection> &Sections);

} // namespace carve
