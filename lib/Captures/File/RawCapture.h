/// \file
/// Reads the raw files of captured launches that the probe leaves (Protocol/CaptureProtocol.h):
/// finds them, reads them, and packs them into a capture file. CapturePipeline calls this after the
/// run.
#pragma once

#include "Captures/File/CaptureFile.h"
#include "Protocol/PlanRecords.h"

#include <string>
#include <vector>

namespace carve {

/// Returns the text of the file that CARVE_PROBE_CAPTURE names. The probe writes captured launches
/// into \p Directory.
std::string printCaptureWishes(llvm::ArrayRef<CaptureWish> Wishes, llvm::StringRef Directory);

/// What the processes of a run left for one launch.
struct RawCaptures {
  /// The complete folders, sorted by name; the name begins with the process number.
  std::vector<std::string> Folders;
  /// The reason of a process that could not capture it; empty if there is none.
  std::string Refused;
};
/// Looks in \p Directory for captures of the launch with the index \p Wish in printCaptureWishes().
RawCaptures findRawCaptures(llvm::StringRef Directory, size_t Wish);

/// Returns an error if the work must stop.
using GoOnFunction = llvm::function_ref<llvm::Error()>;

/// Packs the raw files in \p Folder. The caller has set in \p C what only it knows; this sets the
/// rest, except for the records of the store, for which \p W stays open. Calls \p GoOn before each
/// chunk. Fails with the error of \p GoOn, or if a file is incomplete or has another digest than
/// stated.
llvm::Error packRawCapture(
    llvm::StringRef Folder, CaptureWriter &W, Capture &C,
    GoOnFunction GoOn = [] { return llvm::Error::success(); });

} // namespace carve
