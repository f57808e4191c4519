#include "Support/LinkLock.h"

#include "Support/Clock.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Files.h"
#include "Support/OwnFile.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace carve;
using Steady = std::chrono::steady_clock;

/// A lock's file is read up to this size.
static constexpr uint64_t MostLockBytes = 4096;

/// Returns the moment at which the process \p Pid was started, as the kernel counts it; empty if
/// there is no such process.
static std::string startOf(llvm::StringRef Pid) {
  std::optional<std::string> Status = readProcFile(("/proc/" + Pid + "/stat").str());
  if (!Status)
    return "";
  // The name of the program, which comes before, may hold anything.
  llvm::SmallVector<llvm::StringRef, 32> Fields;
  llvm::StringRef(*Status).rsplit(')').second.split(Fields, ' ', -1, /*KeepEmpty=*/false);
  return Fields.size() > 19 && Fields[0] != "Z" ? Fields[19].str() : "";
}

/// Returns what processes have in common that can see each other: the boot and the namespace. Empty
/// if /proc does not tell.
static std::string neighbourhood() {
  std::optional<std::string> Boot = readProcFile("/proc/sys/kernel/random/boot_id");
  char Space[64];
  ssize_t Bytes = ::readlink("/proc/self/ns/pid", Space, sizeof Space);
  if (!Boot || Bytes <= 0)
    return "";
  return llvm::StringRef(*Boot).trim().str() + "/" + std::string(Space, Bytes);
}

static std::string hostName() {
  char Name[256] = "unknown";
  (void)::gethostname(Name, sizeof Name - 1);
  return Name;
}

/// Returns the text of a lock's file for a new holder in this process. No two are the same.
static std::string newHolder() {
  static std::atomic<unsigned> Count{0};
  const std::string Pid = std::to_string(::getpid());
  return "carve-lock 1\nhost " + hostName() + "\nneighbourhood " + neighbourhood() + "\nprocess " +
         Pid + "\nstarted " + startOf(Pid) + "\ntaken " + std::to_string(unixNanoseconds()) + "\n" +
         "number " + std::to_string(++Count) + "\n";
}

/// Returns the value of a line of a lock's file; empty if it has no such line.
static llvm::StringRef valueIn(llvm::StringRef Holder, llvm::StringRef Name) {
  llvm::SmallVector<llvm::StringRef, 8> Lines;
  Holder.split(Lines, '\n');
  for (llvm::StringRef Line : Lines)
    if (Line.consume_front(Name) && Line.consume_front(" "))
      return Line;
  return "";
}

/// Returns true if \p Holder is a process that this one can see, or could before it ended.
static bool isNeighbour(llvm::StringRef Holder) {
  const std::string Here = neighbourhood();
  return !Here.empty() && valueIn(Holder, "neighbourhood") == Here &&
         !valueIn(Holder, "process").empty() && !valueIn(Holder, "started").empty();
}

/// Returns true if the process of \p Holder has certainly gone.
static bool hasGone(llvm::StringRef Holder) {
  return isNeighbour(Holder) && startOf(valueIn(Holder, "process")) != valueIn(Holder, "started");
}

namespace {

/// The file of a lock as a waiting process has seen it.
struct SeenLock {
  std::string Holder;
  timespec Renewed{};
  bool operator==(const SeenLock &Other) const {
    return Holder == Other.Holder && Renewed.tv_sec == Other.Renewed.tv_sec &&
           Renewed.tv_nsec == Other.Renewed.tv_nsec;
  }
};

/// Watches a lock that another process holds.
class LockWatch {
public:
  /// Returns true if the process of \p Now has gone, or if it cannot be seen and \p Now is what was
  /// there StaleAfter ago.
  bool isStale(const SeenLock &Now) {
    if (!(Now == Last)) {
      Changes += 1;
      Last = Now;
      Since = Steady::now();
    }
    if (isNeighbour(Now.Holder))
      return hasGone(Now.Holder);
    return Steady::now() - Since >= LinkLock::StaleAfter;
  }

  /// Returns true if it is known that the holder in \p Now lives, or did a moment ago.
  bool isAlive(const SeenLock &Now) const { return Changes > 1 || isNeighbour(Now.Holder); }

private:
  SeenLock Last;
  unsigned Changes = 0; ///< The first look counts as one.
  Steady::time_point Since = Steady::now();
};

} // namespace

/// Returns the lock at \p Path; nothing if it is free. Opening the file makes a network file system
/// ask the server for it. If the file is replaced meanwhile, it is opened anew.
static std::optional<SeenLock> lookAt(const std::string &Path) {
  constexpr int Attempts = 10;
  for (int Attempt = 0; Attempt < Attempts; ++Attempt) {
    llvm::Expected<RegularFile> File = RegularFile::open(Path, MostLockBytes);
    llvm::Expected<std::string> Text = File ? File->read() : File.takeError();
    struct stat Status;
    if (Text && ::fstat(File->descriptor(), &Status) == 0)
      return SeenLock{std::move(*Text), Status.st_mtim};
    if (!Text)
      llvm::consumeError(Text.takeError());
    if (::lstat(Path.c_str(), &Status) != 0 && errno != ESTALE)
      return std::nullopt;
  }
  return std::nullopt;
}

/// Gives the file \p Own the further name \p Path. Returns 0, or the error. The reply of a server
/// may be lost and the request repeated, so it is the file that tells whether it has the name.
static int linkTo(const std::string &Own, const std::string &Path) {
  if (::link(Own.c_str(), Path.c_str()) == 0)
    return 0;
  const int Failed = errno;
  struct stat Mine, There;
  bool IsMine = ::lstat(Own.c_str(), &Mine) == 0 && ::lstat(Path.c_str(), &There) == 0 &&
                Mine.st_ino == There.st_ino && Mine.st_dev == There.st_dev;
  return IsMine ? 0 : Failed;
}

// Many processes may find at once that a lock is stale. Only the one that has the guard removes the
// file, and only if that is still the same holder's. So nobody removes the lock of the next holder.
static void breakLock(const std::string &Path, const SeenLock &Stale, const std::string &Own,
                      LockWatch &GuardWatch) {
  const std::string Guard = Path + ".carve-break";
  if (linkTo(Own, Guard) != 0) {
    // The guard is held for three calls. It is stale only if a process was killed between them.
    if (std::optional<SeenLock> Held = lookAt(Guard); Held && GuardWatch.isStale(*Held))
      ::unlink(Guard.c_str());
    return;
  }
  if (std::optional<SeenLock> Now = lookAt(Path); Now && *Now == Stale)
    ::unlink(Path.c_str());
  ::unlink(Guard.c_str());
}

static llvm::Error heldError(const std::string &Path, llvm::StringRef Holder) {
  return malformed(Path + ": process " + valueIn(Holder, "process") + " on host " +
                   valueIn(Holder, "host") + " holds this lock");
}

llvm::Expected<LinkLock> LinkLock::take(llvm::StringRef Path, std::chrono::milliseconds Patience) {
  const std::string Name = Path.str(), Holder = newHolder();
  const std::string Own = Name + ".carve-" + digestOf(Holder).substr(0, 16);
  if (llvm::Error Failed = writeOwnFile(Own, Holder))
    return Failed;
  const Steady::time_point Until = Steady::now() + Patience;
  LockWatch Watch, GuardWatch;
  constexpr useconds_t LeastPauseUs = 500, MostPauseUs = 20000;
  for (useconds_t PauseUs = LeastPauseUs;; PauseUs = std::min(2 * PauseUs, MostPauseUs)) {
    const int Failed = linkTo(Own, Name);
    if (Failed == 0 || Failed != EEXIST) {
      ::unlink(Own.c_str());
      if (Failed == 0)
        return LinkLock(Name, Holder);
      return fileError(Name, Failed);
    }
    std::optional<SeenLock> Held = lookAt(Name);
    if (Held && Watch.isStale(*Held)) {
      breakLock(Name, *Held, Own, GuardWatch);
      continue;
    }
    if (Held && Steady::now() >= Until && Watch.isAlive(*Held)) {
      ::unlink(Own.c_str());
      return heldError(Name, Held->Holder);
    }
    ::usleep(PauseUs);
  }
}

LinkLock::LinkLock(LinkLock &&Other) noexcept
    : Path(std::exchange(Other.Path, "")), Holder(std::move(Other.Holder)), Renewed(Other.Renewed) {
}

LinkLock::~LinkLock() {
  if (!Path.empty() && isHeld())
    ::unlink(Path.c_str());
}

void LinkLock::renew() {
  if (Path.empty() || Steady::now() - Renewed < RenewEvery)
    return;
  Renewed = Steady::now();
  (void)::utimensat(AT_FDCWD, Path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

bool LinkLock::isHeld() const {
  std::optional<SeenLock> Now = lookAt(Path);
  return Now && Now->Holder == Holder;
}
