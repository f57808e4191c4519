/// \file
/// The files that a compile read, with their state at that time. StoredCompile uses them to decide
/// later whether the same compile would read the same content.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// One file, or one name under which there was no file. Two files with equal stamps are taken to be
/// the same: a write changes the time of the last status change (ctime), which no program can set.
struct InputFile {
  std::string Path; ///< Absolute, or relative to the directory of the compile.
  uint64_t Bytes = 0;
  int64_t ModifiedNs = 0, ChangedNs = 0; ///< Nanoseconds since 1970.
  bool Missing = false;                  ///< No file existed under this name.
  bool Hidden = false; ///< Nothing could be seen, because a folder on the way may not be searched.
  bool operator==(const InputFile &) const = default;
};

/// Returns the stamp of \p Path, which is relative to \p Dir unless it is absolute; nothing if it
/// is not a regular file.
std::optional<InputFile> stampOf(llvm::StringRef Path, llvm::StringRef Dir);

/// Returns the stamp of \p Path, under which no file can be seen. A relative path is relative to \p
/// Dir.
InputFile stampOfMissing(std::string Path, llvm::StringRef Dir);

/// Returns true if the file of \p Old is unchanged. A relative path is relative to \p Dir.
bool isUnchanged(const InputFile &Old, llvm::StringRef Dir);

/// Returns one line `<bytes> <modified> <changed> <path>` for each file, `missing <path>` if there
/// was no file, and `hidden <path>` if nothing could be seen.
std::string printInputFiles(llvm::ArrayRef<InputFile> Files);
/// Reads what printInputFiles() wrote. Fails and names the line if a line has another form.
llvm::Expected<std::vector<InputFile>> parseInputFiles(llvm::StringRef Text);

} // namespace carve
