/// \file
/// Finds the forms in which `__launch_bounds__`, `__maxnreg__` and options for a file can express a
/// decision, and estimates how much of its gain each form loses. The functions are pure: they take
/// a decision, directives and a report, and return forms.
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

/// What `carve export` writes (`--as`).
enum class ExportForm {
  LaunchBounds, ///< `__launch_bounds__` in the source.
  MaxNReg,      ///< `__maxnreg__` in the source.
  Patch,        ///< The one of the two that loses least, for each kernel.
  Flags,        ///< Options for files.
};

/// One way to express a decision as an attribute in the source.
struct AttributeForm {
  bool IsLaunchBounds = false;
  unsigned Cap = 0;                       ///< The register count that the compiler obeys.
  unsigned MaxThreads = 0, MinBlocks = 0; ///< The arguments of launch bounds.
  /// The setting that compiles to the same code. `__maxnreg__(N)` becomes `.maxnreg N` and does not
  /// affect the front end, so it is r<N>. Launch bounds have no such setting, because cicc sees
  /// them but does not see a cap.
  std::optional<VariantSetting> Setting;
  std::vector<std::string> Lost; ///< What of the decision the form does not express, for the user.
};

/// What is known of a kernel that is to be exported.
struct FormRequest {
  VariantSetting Decided;
  EntryDirectives Directives; ///< From the PTX of the source as it is now.
  unsigned LargestBlock = 0;  ///< Threads of the largest launch seen; 0 if none is known.
  std::string NvccVersion;
  const DeviceModel &Model;
  const KernelReport *Report = nullptr; ///< The tuning's report; null if there is none.
};

/// Returns the register count that ptxas allows under launch bounds, at most 255. The warps of a
/// block are spread over the four parts of an SM, and a warp's registers are allocated in units of
/// 256.
unsigned capOfLaunchBounds(const DeviceModel &D, unsigned MaxThreads, unsigned MinBlocks);

/// Returns the possible forms, the best first. If there is none, \p Reason says why.
std::vector<AttributeForm> formsOf(const FormRequest &Request, ExportForm As, std::string &Reason);

/// Times relative to the default's: of the decided code and of the exported code.
struct GainEstimate {
  std::optional<double> Decided, Exported;
  bool Same = false; ///< The exported code is the decided code, so nothing is lost.

  /// Returns what the export loses, as a phrase for the summary.
  std::string text() const;
};

/// Returns what \p Exported keeps of the gain of \p Decided, from the variants that \p Report
/// timed. \p Exported is absent if its code was not timed. \p DecidedRatio is the ratio of the
/// confirmation, if there was one.
GainEstimate estimateGain(const VariantSetting &Decided,
                          const std::optional<VariantSetting> &Exported,
                          std::optional<double> DecidedRatio, const KernelReport *Report);

/// Returns the time of the variant \p Name relative to the default's if \p Report has it, else
/// nothing.
std::optional<double> timedRatio(const KernelReport *Report, llvm::StringRef Name);

/// Returns the threads of the largest block in shapes as evidence writes them, or 0 if there is
/// none.
unsigned largestBlock(llvm::ArrayRef<std::string> Shapes);

} // namespace carve
