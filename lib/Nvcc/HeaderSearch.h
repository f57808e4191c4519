/// \file
/// Which files that are not there would change what a compile reads if they came to be: a header of
/// the same name in a folder that is searched first, and what `__has_include` asks for.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <set>
#include <string>
#include <vector>

namespace carve {

/// The folders in which the calls of the host compiler \p HostCommands look for headers, as they
/// are written there; those that it knows by itself are not among them.
std::vector<std::string> headerFolders(llvm::ArrayRef<std::vector<std::string>> HostCommands);

/// What a text asks of the preprocessor that its output does not show.
struct HeaderQueries {
  std::set<std::string> Names; ///< Of `__has_include(<x/y.h>)`: `x/y.h`.
  bool Embeds = false;         ///< `#embed`, whose file no line marker names.
};
void readQueries(llvm::StringRef Text, HeaderQueries &Queries);

/// The headers of a compile.
struct HeaderNames {
  const std::set<std::string> &Read;    ///< As the line markers name them.
  const std::set<std::string> &Queried; ///< HeaderQueries::Names.
  /// Whether a file is the system's or the toolkit's. What these include they have beside them.
  llvm::function_ref<bool(llvm::StringRef)> IsOfSystem;
};

/// Names under which there is nothing now. As long as that is so, what was read is found where it
/// was, and what was not found is not found. Of a path of which several parts are missing the first
/// is given. \p Folders: those of headerFolders(). Names are relative to \p WorkDir as those given
/// are.
std::set<std::string> missingHeaders(const HeaderNames &Headers,
                                     llvm::ArrayRef<std::string> Folders, llvm::StringRef WorkDir);

} // namespace carve
