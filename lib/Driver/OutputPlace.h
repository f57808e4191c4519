/// \file
/// Where a compile's output is made and where it stands in the end: nothing half-written is ever
/// under its own name.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

class OutputPlace {
public:
  /// The output \p Target, an absolute path; a symbolic link is followed. \p Tag is the command's
  /// own: what a killed run of the same command left beside the target is written over.
  OutputPlace(llvm::StringRef Target, llvm::StringRef Tag);
  OutputPlace(const OutputPlace &) = delete;
  /// Removes the temporary where it was not placed.
  ~OutputPlace();

  const std::string &target() const { return Target; }
  /// Whether the disk holds a second output beside the one that is there. Where it does not, nvcc
  /// has to write in place, as it would without us.
  bool hasRoom() const;
  /// Has nvcc write beside the target; returns the temporary's path.
  const std::string &useTemporary();
  /// A second name beside the target, for a file to be given to replaceBy().
  std::string newName() const { return Beside + "-new"; }
  /// Renames \p Made, a complete file beside the target, over it. On failure removes \p Made.
  llvm::Error replaceBy(const std::string &Made);
  /// Puts nvcc's own output into place where it went to a temporary and nothing replaced it yet.
  llvm::Error place();

private:
  std::string Target;
  std::string Beside;    ///< Names of temporaries start with it.
  std::string Temporary; ///< Empty: nvcc writes the target itself.
  bool Placed = false;
};

} // namespace carve
