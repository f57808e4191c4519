/// \file
/// What `__launch_bounds__`, `__maxnreg__` and options for a file can say of a decision, and what
/// is lost of its gain by saying no more. Pure: a decision, directives and a report in, forms out.
#pragma once

#include "Device/DeviceModel.h"
#include "Ptx/PtxModule.h"
#include "Search/Variant.h"
#include "Tune/Outcome/TuningReport.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

enum class ExportForm {
  LaunchBounds,
  MaxNReg,
  Patch, ///< Of the two the one that loses least, kernel by kernel.
  Flags, ///< Options for files.
};

/// One way to say it in the source.
struct AttributeForm {
  bool IsLaunchBounds = false;
  unsigned Cap = 0;                       ///< Registers that the compiler keeps to.
  unsigned MaxThreads = 0, MinBlocks = 0; ///< Of launch bounds.
  /// The setting whose code it is. `__maxnreg__(N)` becomes `.maxnreg N` and leaves the front end
  /// alone, so that it is r<N>. Absent for launch bounds: cicc sees them, as it sees no cap.
  std::optional<VariantSetting> Setting;
  std::vector<std::string> Lost; ///< What it does not say, for a person.
};

/// What is known of a kernel that is to be exported.
struct FormRequest {
  VariantSetting Decided;
  EntryDirectives Directives; ///< Of the PTX as the source is now.
  unsigned LargestBlock = 0;  ///< In threads, of the launches seen; 0: none is known.
  std::string NvccVersion;
  const DeviceModel &Model;
  const KernelReport *Report = nullptr; ///< Of the tuning; null: there is none.
};

/// The registers that ptxas keeps to for launch bounds: a block's warps are spread over the four
/// parts of an SM, and a warp's registers are given in units of 256. At most 255.
unsigned capOfLaunchBounds(const DeviceModel &D, unsigned MaxThreads, unsigned MinBlocks);

/// The forms, the best first. Where there is none, \p Reason says why.
std::vector<AttributeForm> formsOf(const FormRequest &Request, ExportForm As, std::string &Reason);

/// Times over the default's, of what was decided and of what is exported.
struct GainEstimate {
  std::optional<double> Decided, Exported;
  bool Same = false; ///< The code is the same: nothing is lost.

  std::string text() const;
};

/// What \p Exported (absent: a code that was not timed) leaves of the gain of \p Decided, from the
/// variants that \p Report timed. \p DecidedRatio: of the confirmation, where it was measured.
GainEstimate estimateGain(const VariantSetting &Decided,
                          const std::optional<VariantSetting> &Exported,
                          std::optional<double> DecidedRatio, const KernelReport *Report);

/// The time over the default's that \p Report measured of variant \p Name; nothing where it did
/// not.
std::optional<double> timedRatio(const KernelReport *Report, llvm::StringRef Name);

/// Threads of the largest block of shapes as evidence writes them; 0 where there is none.
unsigned largestBlock(llvm::ArrayRef<std::string> Shapes);

} // namespace carve
