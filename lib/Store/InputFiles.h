/// \file
/// The files that a compile read, as they were then: to tell later whether it would read the same.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// One file, or a name under which there was nothing. Two of one stamp are taken for the same:
/// whoever writes a file changes the time of its last change of status, which no program can set.
struct InputFile {
  std::string Path; ///< Absolute, or relative to the directory of the compile.
  uint64_t Bytes = 0;
  int64_t ModifiedNs = 0, ChangedNs = 0; ///< Since 1970.
  bool Missing = false;                  ///< There was nothing.
  bool Hidden = false; ///< Nothing could be seen: a folder on the way may not be searched.
  bool operator==(const InputFile &) const = default;
};

/// The stamp of \p Path, which \p Dir makes absolute; nothing where it is no file.
std::optional<InputFile> stampOf(llvm::StringRef Path, llvm::StringRef Dir);

/// The stamp of \p Path, which \p Dir makes absolute and under which no file can be seen.
InputFile stampOfMissing(std::string Path, llvm::StringRef Dir);

/// Whether \p Old, which \p Dir makes absolute, is what it was.
bool isUnchanged(const InputFile &Old, llvm::StringRef Dir);

/// One line `<bytes> <modified> <changed> <path>` for each file, `missing <path>` where there was
/// nothing, `hidden <path>` where nothing could be seen.
std::string printInputFiles(llvm::ArrayRef<InputFile> Files);
/// Fails naming the line where one has another form.
llvm::Expected<std::vector<InputFile>> parseInputFiles(llvm::StringRef Text);

} // namespace carve
