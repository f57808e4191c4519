/// \file
/// A line of the log is `<count> <reason>`. A process that finds the log too long compacts it: it
/// claims the log by renaming it, appends the sums to the new log that other processes have begun
/// meanwhile, and removes the claimed file. If several processes try, only one rename succeeds. If
/// the process is interrupted in between, the claimed file stays and still counts.
#include "Store/PassthroughLog.h"

#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/OwnFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace carve;
namespace fs = llvm::sys::fs;

static constexpr off_t CompactAboveBytes = 1 << 20;
static constexpr llvm::StringLiteral LogName = "passthroughs.log";

static std::string logPath(llvm::StringRef Root) {
  llvm::SmallString<256> Path(Root);
  llvm::sys::path::append(Path, LogName);
  return Path.str().str();
}

/// Appends \p Text in one write, so that the lines of several processes do not mix. Returns the
/// length of the file after the write, in bytes.
static llvm::Expected<off_t> appendText(const std::string &Path, llvm::StringRef Text) {
  int Fd = ::open(Path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                  OwnFileMode);
  if (Fd < 0)
    return llvm::createFileError(Path, llvm::errnoAsErrorCode());
  struct stat Status = {};
  if (::fstat(Fd, &Status) != 0 || !S_ISREG(Status.st_mode)) {
    ::close(Fd);
    return malformed(Path + ": expected a regular file");
  }
  ssize_t Done = llvm::sys::RetryAfterSignal(-1, ::write, Fd, Text.data(), Text.size());
  std::error_code Failed;
  if (Done != static_cast<ssize_t>(Text.size()))
    Failed =
        Done < 0 ? llvm::errnoAsErrorCode() : std::make_error_code(std::errc::no_space_on_device);
  ::fstat(Fd, &Status);
  ::close(Fd);
  if (Failed)
    return llvm::createFileError(Path, Failed);
  return Status.st_size;
}

static void addCounts(llvm::StringRef Text, std::map<std::string, uint64_t> &Counts) {
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    Text = Rest;
    uint64_t Count;
    if (!Line.consumeInteger(10, Count) && Line.consume_front(" ") && !Line.empty())
      Counts[Line.str()] += Count;
  }
}

static llvm::Error compact(llvm::StringRef Root) {
  std::string Log = logPath(Root), Claimed = temporaryBeside(Log);
  if (fs::rename(Log, Claimed))
    return llvm::Error::success(); // Another process was first.
  llvm::Expected<std::string> Text = readFile(Claimed, FileLimit::Record);
  if (!Text)
    return Text.takeError();
  std::map<std::string, uint64_t> Counts;
  addCounts(*Text, Counts);
  std::string Sums;
  for (const auto &[Reason, Count] : Counts)
    Sums += llvm::utostr(Count) + " " + Reason + "\n";
  if (llvm::Expected<off_t> Length = appendText(Log, Sums); !Length)
    return Length.takeError();
  return llvm::errorCodeToError(fs::remove(Claimed));
}

llvm::Error carve::appendPassthrough(llvm::StringRef Root, llvm::StringRef Reason) {
  std::string Line = "1 " + Reason.str();
  for (char &C : Line)
    if (C == '\n')
      C = ' ';
  Line += '\n';
  llvm::Expected<off_t> Length = appendText(logPath(Root), Line);
  if (!Length) {
    llvm::consumeError(Length.takeError());
    if (std::error_code Failed = createOwnDirectories(Root))
      return llvm::createFileError(Root, Failed);
    Length = appendText(logPath(Root), Line);
  }
  if (!Length)
    return Length.takeError();
  return *Length > CompactAboveBytes ? compact(Root) : llvm::Error::success();
}

std::vector<std::string> carve::passthroughFiles(llvm::StringRef Root) {
  std::vector<std::string> Files;
  std::error_code Failed;
  for (fs::directory_iterator It(Root, Failed, /*follow_symlinks=*/false), End;
       !Failed && It != End; It.increment(Failed))
    if (llvm::sys::path::filename(It->path()).starts_with(LogName))
      Files.push_back(It->path());
  return Files;
}

std::map<std::string, uint64_t> carve::readPassthroughs(llvm::StringRef Root) {
  std::map<std::string, uint64_t> Counts;
  for (const std::string &Path : passthroughFiles(Root)) {
    if (llvm::Expected<std::string> Text = readFile(Path, FileLimit::Record))
      addCounts(*Text, Counts);
    else
      llvm::consumeError(Text.takeError());
  }
  return Counts;
}
