// Loaded before the C library's functions (LD_PRELOAD), it imposes on the files below
// $STORE_RULES_ROOT what a network file system does to its clients. $STORE_RULES lists the rules:
//   nfs        statfs(2) says that the file system is NFS
//   no-locks   flock(2) fails with ENOLCK, as on Lustre without the mount option flock
//   stale      every second open(2) for reading fails with ESTALE
//   quota      write(2) fails with EDQUOT
//   squashed   the owner, mode and times of files cannot be set
//   ahead      this machine's clock is a day ahead of the server's

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace {

bool hasRule(const char *Rule) {
  const char *Rules = ::getenv("STORE_RULES");
  return Rules && ::strstr(Rules, Rule);
}

bool isBelowRoot(const char *Path) {
  const char *Root = ::getenv("STORE_RULES_ROOT");
  return Root && Path && ::strncmp(Path, Root, ::strlen(Root)) == 0;
}

bool isBelowRoot(int Fd) {
  char Link[64], Path[4096];
  ::snprintf(Link, sizeof Link, "/proc/self/fd/%d", Fd);
  ssize_t Bytes = ::readlink(Link, Path, sizeof Path - 1);
  if (Bytes < 0)
    return false;
  Path[Bytes] = 0;
  return isBelowRoot(Path);
}

template <typename Function> Function *next(const char *Name) {
  return reinterpret_cast<Function *>(::dlsym(RTLD_NEXT, Name));
}

int fail(int Error) {
  errno = Error;
  return -1;
}

/// Opens as the function \p Name does, unless the file has become stale.
int openBy(const char *Name, const char *Path, int Flags, mode_t Mode) {
  static int Opened = 0;
  if (hasRule("stale") && isBelowRoot(Path) && !(Flags & (O_CREAT | O_DIRECTORY)) &&
      ++Opened % 2 == 1)
    return fail(ESTALE);
  return next<int(const char *, int, ...)>(Name)(Path, Flags, Mode);
}

mode_t modeOf(int Flags, va_list Rest) {
  return Flags & (O_CREAT | O_TMPFILE) ? va_arg(Rest, mode_t) : 0;
}

} // namespace

extern "C" {

[[gnu::visibility("default")]] int statfs(const char *Path, struct statfs *Status) {
  int Result = next<int(const char *, struct statfs *)>("statfs")(Path, Status);
  constexpr long NfsMagic = 0x6969;
  if (Result == 0 && hasRule("nfs") && isBelowRoot(Path))
    Status->f_type = NfsMagic;
  return Result;
}

[[gnu::visibility("default")]] int flock(int Fd, int Operation) {
  if (hasRule("no-locks") && isBelowRoot(Fd))
    return fail(ENOLCK);
  return next<int(int, int)>("flock")(Fd, Operation);
}

[[gnu::visibility("default")]] int open(const char *Path, int Flags, ...) {
  va_list Rest;
  va_start(Rest, Flags);
  mode_t Mode = modeOf(Flags, Rest);
  va_end(Rest);
  return openBy("open", Path, Flags, Mode);
}

[[gnu::visibility("default")]] int open64(const char *Path, int Flags, ...) {
  va_list Rest;
  va_start(Rest, Flags);
  mode_t Mode = modeOf(Flags, Rest);
  va_end(Rest);
  return openBy("open64", Path, Flags, Mode);
}

[[gnu::visibility("default")]] ssize_t write(int Fd, const void *Bytes, size_t Count) {
  if (hasRule("quota") && isBelowRoot(Fd))
    return fail(EDQUOT);
  return next<ssize_t(int, const void *, size_t)>("write")(Fd, Bytes, Count);
}

[[gnu::visibility("default")]] int utimensat(int Folder, const char *Path,
                                             const struct timespec *Times, int Flags) {
  if (hasRule("squashed") && isBelowRoot(Path))
    return fail(EPERM);
  return next<int(int, const char *, const struct timespec *, int)>("utimensat")(Folder, Path,
                                                                                 Times, Flags);
}

[[gnu::visibility("default")]] int fchmod(int Fd, mode_t Mode) {
  if (hasRule("squashed") && isBelowRoot(Fd))
    return fail(EPERM);
  return next<int(int, mode_t)>("fchmod")(Fd, Mode);
}

[[gnu::visibility("default")]] int clock_gettime(clockid_t Clock, struct timespec *Time) {
  int Result = next<int(clockid_t, struct timespec *)>("clock_gettime")(Clock, Time);
  if (Result == 0 && Clock == CLOCK_REALTIME && hasRule("ahead"))
    Time->tv_sec += 24 * 60 * 60;
  return Result;
}

} // extern "C"
