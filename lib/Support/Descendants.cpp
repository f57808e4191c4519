#include "Support/Descendants.h"

#include "Support/RawDirectory.h"

#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

using namespace carve;

namespace {

struct Process {
  pid_t Pid, Parent, Session;
};

constexpr int MostProcesses = 16384, MostDescendants = 1024;
/// The table is static because it is too large for a handler's stack. Only one thread at a time
/// fills it: a handler masks the signals that it serves, and an interrupted run is the only run of
/// its kind.
Process Table[MostProcesses];
Process Below[MostDescendants];

long numberAt(const char *&Text) {
  long Number = 0;
  while (*Text == ' ')
    ++Text;
  bool Minus = *Text == '-';
  for (Text += Minus; *Text >= '0' && *Text <= '9'; ++Text)
    Number = Number * 10 + (*Text - '0');
  return Minus ? -Number : Number;
}

/// Reads /proc/<Name>/stat. Returns false if the process has ended, even if its parent has not
/// waited for it yet.
bool readProcess(int Proc, const char *Name, Process &P) {
  char Path[32] = {}, Text[512];
  size_t Length = std::strlen(Name);
  if (Length > 20)
    return false;
  // The next copy adds the terminating null character.
  std::memcpy(Path, Name, Length); // NOLINT(bugprone-not-null-terminated-result)
  std::memcpy(Path + Length, "/stat", 6);
  int Fd = ::openat(Proc, Path, O_RDONLY | O_CLOEXEC);
  if (Fd < 0)
    return false;
  ssize_t Bytes = ::read(Fd, Text, sizeof(Text) - 1);
  ::close(Fd);
  if (Bytes <= 0)
    return false;
  Text[Bytes] = 0;
  // The form is "pid (name) state parent group session". The name may hold anything, even
  // parentheses.
  const char *At = std::strrchr(Text, ')');
  if (!At || At[1] != ' ' || At[2] == 'Z' || At[2] == 'X')
    return false;
  At += 3;
  P.Parent = pid_t(numberAt(At));
  (void)numberAt(At);
  P.Session = pid_t(numberAt(At));
  P.Pid = pid_t(numberAt(Name));
  return true;
}

int readTable() {
  int Count = 0, Proc = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (Proc < 0)
    return 0;
  forEachEntry(Proc, [&](const char *Name) {
    if (Name[0] >= '1' && Name[0] <= '9' && Count < MostProcesses)
      Count += readProcess(Proc, Name, Table[Count]);
  });
  ::close(Proc);
  return Count;
}

} // namespace

void carve::adoptDescendants() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

/// Fills Below with the descendants of this process and returns their number.
static int findDescendants() {
  const int Count = readTable();
  const pid_t Self = ::getpid();
  int Found = 0;
  auto Collect = [&](pid_t Parent) {
    for (int I = 0; I < Count && Found < MostDescendants; ++I)
      if (Table[I].Parent == Parent && Table[I].Pid != Self)
        Below[Found++] = Table[I];
  };
  Collect(Self);
  for (int Next = 0; Next < Found; ++Next)
    Collect(Below[Next].Pid);
  return Found;
}

int carve::signalDescendants(int Signal) {
  const int Found = findDescendants();
  const pid_t Session = ::getsid(0);
  int Sent = 0;
  for (int I = 0; I < Found; ++I)
    if (Below[I].Session == Session)
      Sent += ::kill(Below[I].Pid, Signal) == 0;
  return Sent;
}

void carve::endDescendants(int Signal) {
  constexpr timespec Pause = {0, 5000000};
  constexpr int Patience = 600;
  adoptDescendants();
  int Left = signalDescendants(Signal);
  for (int I = 1; Left > 0 && I < 2 * Patience; ++I) {
    ::nanosleep(&Pause, nullptr);
    // The signal is repeated, because a shell may have started its next step just before it
    // arrived.
    Left = signalDescendants(I >= Patience ? SIGKILL : I % 20 == 0 ? Signal : 0);
  }
}
