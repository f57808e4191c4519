#include "Driver/OutputPlace.h"

#include "Support/Files.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

using namespace carve;
namespace fs = llvm::sys::fs;

OutputPlace::~OutputPlace() {
  if (!Temporary.empty())
    fs::remove(Temporary); // Gone already where it was renamed.
}

const std::string &OutputPlace::useTemporary() {
  Temporary = temporaryBeside(Target);
  return Temporary;
}

llvm::Error OutputPlace::replaceBy(const std::string &Made) {
  std::string Real = Target;
  llvm::SmallString<256> Resolved;
  if (!fs::real_path(Target, Resolved))
    Real = Resolved.str().str();
  if (std::error_code E = fs::rename(Made, Real)) {
    fs::remove(Made);
    return llvm::createFileError(Real, E);
  }
  Placed = true;
  return llvm::Error::success();
}

llvm::Error OutputPlace::place() {
  if (Temporary.empty() || Placed)
    return llvm::Error::success();
  return replaceBy(Temporary);
}
