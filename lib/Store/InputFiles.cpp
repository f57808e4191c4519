#include "Store/InputFiles.h"

#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/Support/raw_ostream.h"

#include <sys/stat.h>

using namespace carve;

static int64_t nanoseconds(const timespec &Time) {
  return int64_t(Time.tv_sec) * 1000000000 + Time.tv_nsec;
}

std::optional<InputFile> carve::stampOf(llvm::StringRef Path, llvm::StringRef Dir) {
  struct stat Status;
  if (::stat(absolutePath(Path, Dir).c_str(), &Status) != 0 || !S_ISREG(Status.st_mode))
    return std::nullopt;
  return InputFile{Path.str(),
                   uint64_t(Status.st_size),
                   nanoseconds(Status.st_mtim),
                   nanoseconds(Status.st_ctim),
                   /*Missing=*/false,
                   /*Hidden=*/false};
}

/// Returns zero if anything exists at \p Path, including a directory or a dangling link; otherwise
/// the errno that says why nothing is seen.
static int lookupError(const std::string &Path) {
  struct stat Status;
  return ::lstat(Path.c_str(), &Status) == 0 ? 0 : errno;
}

InputFile carve::stampOfMissing(std::string Path, llvm::StringRef Dir) {
  InputFile File;
  File.Hidden = lookupError(absolutePath(Path, Dir)) == EACCES;
  File.Missing = !File.Hidden;
  File.Path = std::move(Path);
  return File;
}

bool carve::isUnchanged(const InputFile &Old, llvm::StringRef Dir) {
  if (!Old.Missing && !Old.Hidden)
    return stampOf(Old.Path, Dir) == Old;
  int Failed = lookupError(absolutePath(Old.Path, Dir));
  return Old.Hidden ? Failed == EACCES : Failed == ENOENT || Failed == ENOTDIR;
}

std::string carve::printInputFiles(llvm::ArrayRef<InputFile> Files) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  for (const InputFile &F : Files)
    if (F.Missing)
      OS << "missing " << F.Path << '\n';
    else if (F.Hidden)
      OS << "hidden " << F.Path << '\n';
    else
      OS << F.Bytes << ' ' << F.ModifiedNs << ' ' << F.ChangedNs << ' ' << F.Path << '\n';
  return Text;
}

llvm::Expected<std::vector<InputFile>> carve::parseInputFiles(llvm::StringRef Text) {
  std::vector<InputFile> Files;
  while (!Text.empty()) {
    llvm::StringRef Line, Rest;
    std::tie(Line, Text) = Text.split('\n');
    Rest = Line;
    InputFile F;
    auto Number = [&](auto &Out) {
      llvm::StringRef Word;
      std::tie(Word, Rest) = Rest.split(' ');
      return !Word.getAsInteger(10, Out);
    };
    F.Missing = Rest.consume_front("missing ");
    F.Hidden = !F.Missing && Rest.consume_front("hidden ");
    if (!F.Missing && !F.Hidden &&
        (!Number(F.Bytes) || !Number(F.ModifiedNs) || !Number(F.ChangedNs)))
      Rest = "";
    if (Rest.empty())
      return malformed("input files: line " + llvm::Twine(Files.size() + 1) + " is '" + Line +
                       "', expected bytes and two times, 'missing' or 'hidden', and a path");
    F.Path = Rest.str();
    Files.push_back(std::move(F));
  }
  return Files;
}
