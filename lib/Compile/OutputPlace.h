/// \file
/// Decides where a compile's output is made and how it gets its name. Links, modes and owners end
/// up as the compiler's own tools would leave them, but the output appears in one step if possible.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// The output of one compile, from the start of nvcc until it has its final content.
class OutputPlace {
public:
  /// The output \p Path, which must be absolute. Removes what a killed writer left beside it.
  explicit OutputPlace(std::string Path);

  /// Returns the path as the user named it.
  const std::string &path() const { return Path; }
  /// Returns true if a file that is made elsewhere can get the output's name by a rename. Otherwise
  /// (a directory that is not ours to write to, another user's file in a sticky directory, a mount
  /// point, a device, an empty file, a dangling link, a full disk) nvcc must write the output
  /// itself, as it would without us.
  bool canBeReplaced() const;
  /// Makes nvcc write into the new directory \p Folder, and returns the path for `-o`. The path
  /// ends in the output's own name, because nvcc names other files after it. If an output exists
  /// already, a stand-in for it is created there, so that nvcc's tools treat it as they would treat
  /// the output.
  llvm::Expected<std::string> makeIn(const std::string &Folder);
  /// Must be called if nvcc has failed: removes the old output if nvcc has removed the stand-in, as
  /// the assembler and the linker do.
  void removeAsNvccDid();
  /// Says that the complete file \p File, elsewhere, is nvcc's output.
  void setMade(std::string File) { Made = std::move(File); }
  /// Undoes setMade(): nvcc writes the output itself again.
  void forgetMade() { Made.clear(); }

  /// Replaces nvcc's output, present or future, by the complete file \p Tuned. On failure nvcc's
  /// output is unchanged.
  llvm::Error replaceBy(const std::string &Tuned);
  /// Puts nvcc's own output into place if it was made elsewhere and nothing has replaced it. If
  /// nvcc made no output (`-Xcompiler -fsyntax-only`), the old output stays.
  llvm::Error place();

private:
  bool nvccMadeNone() const;
  bool nvccHasWritten() const { return Made.empty() || Placed; }
  std::string Path;
  std::string Made; ///< Empty if nvcc writes the output itself.
  bool HasStandIn = false;
  bool Placed = false;
};

} // namespace carve
