#include "Store/UnitKey.h"

#include "Support/Digest.h"
#include "Support/Files.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace carve;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

// Symbolic links are not resolved: the same words must give the same key, and a link that is
// switched (`build/current`) is still the same unit. The path of the project is part of the key, so
// two checkouts do not share units. A moved checkout starts anew, and finds its decisions in the
// profile that it carries with it.
std::string carve::unitKey(llvm::StringRef Project, llvm::StringRef Directory,
                           llvm::StringRef Source, llvm::StringRef Output) {
  return digestOfFields({normalisedPath(Project, Directory), normalisedPath(Source, Directory),
                         normalisedPath(Output, Directory)});
}

std::string carve::linkKey(llvm::StringRef Project, llvm::StringRef Directory,
                           llvm::StringRef Output) {
  return digestOfFields(
      {"device link", normalisedPath(Project, Directory), normalisedPath(Output, Directory)});
}

std::string carve::projectRoot(llvm::StringRef Directory) {
  for (llvm::StringRef Dir = Directory; !Dir.empty(); Dir = path::parent_path(Dir)) {
    llvm::SmallString<256> Git(Dir);
    path::append(Git, ".git"); // A directory, or a file in work trees and submodules.
    if (fs::exists(Git))
      return Dir.str();
  }
  return Directory.str();
}

std::string carve::sourceInProject(const Unit &U) {
  llvm::SmallString<256> Path(U.Source);
  if (!path::is_absolute(Path)) {
    Path = U.Directory;
    path::append(Path, U.Source);
  }
  path::remove_dots(Path, /*remove_dot_dot=*/true);
  llvm::StringRef Below = Path;
  if (Below.consume_front(U.Project) && Below.consume_front("/"))
    return Below.str();
  return path::filename(Path).str();
}
