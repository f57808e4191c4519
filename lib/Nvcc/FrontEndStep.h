/// \file
/// How nvcc had cicc compile preprocessed text to PTX: read from the dryrun by BuildPlan, kept in
/// the unit's record, and done again at another register cap by FrontEnd.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// One cicc call. Its files lie in one directory; where it is done again they lie in another. Which
/// cicc it was is no part of it: the program is the toolkit's (Toolchain.h).
struct FrontEndStep {
  std::string KeepDir;      ///< The directory of the files, which the arguments name.
  std::string InputName;    ///< The preprocessed text, `k.cpp1.ii`.
  std::string ModuleIdName; ///< Holds the tag of internal names, `k.module_id`; empty: none.
  std::string PtxName;
  std::vector<std::string> Arguments; ///< After argv[0], without `-maxreg`.
  std::optional<unsigned> Cap;        ///< The command's own `-maxreg`.

  std::string ptxPath() const { return KeepDir + "/" + PtxName; }
  bool operator==(const FrontEndStep &) const = default;
};

/// The step that \p Words, a command of a dryrun that calls cicc, is; nothing where it does not
/// have the shape expected: one input, one PTX, a readable cap, all files in one directory.
std::optional<FrontEndStep> readFrontEndStep(llvm::ArrayRef<std::string> Words);

} // namespace carve
