/// \file
/// The step in which cicc compiles preprocessed text to PTX. BuildPlan reads it from the dryrun,
/// the unit's record keeps it, and FrontEnd repeats it with another setting.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// One cicc call. All its files lie in one directory; a repetition uses another directory. The
/// program itself is not recorded, because it always comes from the toolkit (Toolchain.h).
struct FrontEndStep {
  std::string KeepDir;      ///< The directory of the files, which the arguments name.
  std::string InputName;    ///< The preprocessed text, `k.cpp1.ii`.
  std::string ModuleIdName; ///< The file with the tag of internal names, `k.module_id`; empty if
                            ///< there is none.
  std::string PtxName;
  std::vector<std::string> Arguments; ///< The arguments after argv[0], without `-maxreg`.
  std::optional<unsigned> Cap;        ///< The command's own `-maxreg`.

  std::string ptxPath() const { return KeepDir + "/" + PtxName; }
  bool operator==(const FrontEndStep &) const = default;
};

/// Returns the step that \p Words, a command of a dryrun that calls cicc, perform. Returns nothing
/// unless they have the expected shape: one input, one PTX, a readable cap, and all files in one
/// directory.
std::optional<FrontEndStep> readFrontEndStep(llvm::ArrayRef<std::string> Words);

} // namespace carve
