/// \file
/// The raw files of captured launches, as the probe leaves them (Protocol/CaptureProtocol.h): finds
/// them, reads what they say, and packs one into a capture file.
#pragma once

#include "Captures/File/CaptureFile.h"
#include "Protocol/PlanRecords.h"

#include <string>
#include <vector>

namespace carve {

/// The file for CARVE_PROBE_CAPTURE; what is captured goes into \p Directory.
std::string printCaptureWishes(llvm::ArrayRef<CaptureWish> Wishes, llvm::StringRef Directory);

/// What the processes of a run left for one wish.
struct RawCaptures {
  std::vector<std::string> Folders; ///< Whole ones, by process number.
  std::string Refused;              ///< A reason that some process gave; empty where none did.
};
RawCaptures findRawCaptures(llvm::StringRef Directory, size_t Wish);

/// Fails where the work is to stop.
using GoOnFunction = llvm::function_ref<llvm::Error()>;

/// Packs the raw files in \p Folder. \p C has what only the caller knows, and gets the rest, but
/// for the records of the store; \p W stays open for them. \p GoOn is asked before each chunk.
/// Fails with what that says, or where a file is not whole.
llvm::Error packRawCapture(
    llvm::StringRef Folder, CaptureWriter &W, Capture &C,
    GoOnFunction GoOn = [] { return llvm::Error::success(); });

} // namespace carve
