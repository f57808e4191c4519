/// \file
/// Finds the missing files that would change what a compile reads if somebody created them: a
/// header of the same name in a folder that is searched earlier, and files that `__has_include`
/// asks for. An object that is kept is valid only while they are missing.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <set>
#include <string>
#include <vector>

namespace carve {

/// Returns the folders in which the calls of the host compiler \p HostCommands look for headers, as
/// they are written there. Folders that the compiler knows by itself are not included.
std::vector<std::string> headerFolders(llvm::ArrayRef<std::vector<std::string>> HostCommands);

/// Questions to the preprocessor that its output does not show.
struct HeaderQueries {
  std::set<std::string> Names; ///< `x/y.h` for `__has_include(<x/y.h>)`.
  bool Embeds = false;         ///< `#embed` is used, whose file no line marker names.
};
/// Adds the questions in \p Text, a source or a header, to \p Queries.
void readQueries(llvm::StringRef Text, HeaderQueries &Queries);

/// The headers of a compile.
struct HeaderNames {
  const std::set<std::string> &Read;    ///< As the line markers name them.
  const std::set<std::string> &Queried; ///< HeaderQueries::Names.
  /// Returns true if a file belongs to the system or the toolkit. The headers that such a file
  /// includes lie beside it, so its folder is not searched for missing ones.
  llvm::function_ref<bool(llvm::StringRef)> IsOfSystem;
};

/// Returns names under which no file exists now. As long as they do not exist, the compile finds
/// each header in the same place, and finds no header that it did not find before. If several parts
/// of a path are missing, the result holds the first missing part. \p Folders is the result of
/// headerFolders(). All names are relative to \p WorkDir unless they are absolute.
std::set<std::string> missingHeaders(const HeaderNames &Headers,
                                     llvm::ArrayRef<std::string> Folders, llvm::StringRef WorkDir);

} // namespace carve
