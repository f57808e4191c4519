#include "Driver/OutputPlace.h"

#include "Support/Files.h"

#include "llvm/Support/FileSystem.h"

using namespace carve;
namespace fs = llvm::sys::fs;

OutputPlace::OutputPlace(llvm::StringRef Target, llvm::StringRef Tag)
    : Target(resolveTarget(Target)), Beside(this->Target + ".carve-" + Tag.str()) {}

OutputPlace::~OutputPlace() {
  if (!Temporary.empty())
    fs::remove(Temporary); // Gone already where it was renamed.
}

bool OutputPlace::hasRoom() const {
  uint64_t Size = 0;
  if (fs::file_size(Target, Size))
    return true; // Nothing there yet: the temporary takes no more than the output would.
  llvm::ErrorOr<fs::space_info> Space = fs::disk_space(Target);
  return !Space || Space->available >= 2 * Size;
}

const std::string &OutputPlace::useTemporary() {
  Temporary = Beside;
  return Temporary;
}

llvm::Error OutputPlace::replaceBy(const std::string &Made) {
  if (std::error_code E = fs::rename(Made, Target)) {
    fs::remove(Made);
    return llvm::createFileError(Target, E);
  }
  Placed = true;
  return llvm::Error::success();
}

llvm::Error OutputPlace::place() {
  if (Temporary.empty() || Placed)
    return llvm::Error::success();
  return replaceBy(Temporary);
}
