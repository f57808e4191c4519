/// \file
/// Where a compile's output is made and how it comes to its name: as the compiler's own tools would
/// have put it there, links, modes and owners included, but in one step wherever that is possible.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

class OutputPlace {
public:
  /// The output \p Path, absolute. Removes what a killed writer left beside it.
  explicit OutputPlace(std::string Path);

  /// As the user named it.
  const std::string &path() const { return Path; }
  /// Whether what is made elsewhere can come to its name by a rename. Where it cannot (a directory
  /// that is not ours to write to, another user's file in a sticky one, a mount point, a device, an
  /// empty file, a dangling link, a full disk), nvcc has to write it itself, as it would without
  /// us.
  bool canBeReplaced() const;
  /// Has nvcc write into the directory \p Folder, which is made; returns the path for `-o`. It ends
  /// in the output's own name, because nvcc names other files after it. If an output exists
  /// already, a stand-in for it is there, so that nvcc's tools treat it as they would treat the
  /// output.
  llvm::Expected<std::string> makeIn(const std::string &Folder);
  /// nvcc has failed: removes the old output if nvcc has removed the stand-in, as the assembler and
  /// the linker do.
  void removeAsNvccDid();
  /// The complete file \p Made, elsewhere, is nvcc's output.
  void setMade(std::string File) { Made = std::move(File); }
  void forgetMade() { Made.clear(); }

  /// Puts the complete file \p Tuned where nvcc's output is, or is to be. On failure nvcc's output
  /// is as it was.
  llvm::Error replaceBy(const std::string &Tuned);
  /// Puts nvcc's own output into place if it was made elsewhere and nothing has replaced it. If
  /// nvcc made none (`-Xcompiler -fsyntax-only`), the old output stays.
  llvm::Error place();

private:
  bool nvccMadeNone() const;
  bool nvccHasWritten() const { return Made.empty() || Placed; }
  std::string Path;
  std::string Made; ///< Empty: nvcc writes the output itself.
  bool HasStandIn = false;
  bool Placed = false;
};

} // namespace carve
