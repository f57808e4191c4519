// A launcher like mpirun, for tests: starts copies of a program, each in a process group of its own
// with RANK and RANKS set, passes on their output line by line as it comes, and ends with the worst
// of their states. `ranks COUNT PROGRAM [ARGUMENTS]`. It does not use CUDA.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

struct Rank {
  pid_t Pid = 0;
  int Output = -1;
  std::string Line;
};

static std::vector<Rank> Ranks;

static void passOn(int Signal) {
  for (const Rank &R : Ranks)
    kill(-R.Pid, Signal);
}

static Rank startRank(int Number, char **Argv) {
  int Fds[2];
  if (pipe(Fds) != 0)
    std::exit(97);
  Rank R;
  R.Pid = fork();
  if (R.Pid == 0) {
    setpgid(0, 0);
    setenv("RANK", std::to_string(Number).c_str(), 1);
    dup2(Fds[1], 1);
    close(Fds[0]);
    close(Fds[1]);
    execvp(Argv[0], Argv);
    _exit(96);
  }
  setpgid(R.Pid, R.Pid);
  close(Fds[1]);
  R.Output = Fds[0];
  return R;
}

/// Prints the complete lines that have come from \p R.
static void forward(Rank &R) {
  char Buffer[4096];
  ssize_t Count = read(R.Output, Buffer, sizeof Buffer);
  R.Line.append(Buffer, size_t(Count > 0 ? Count : 0));
  size_t End = Count > 0 ? R.Line.rfind('\n') + 1 : R.Line.size();
  std::fwrite(R.Line.data(), 1, End, stdout);
  std::fflush(stdout);
  R.Line.erase(0, End);
  if (Count <= 0) {
    close(R.Output);
    R.Output = -1;
  }
}

static bool forwardAll() {
  std::vector<pollfd> Polls;
  for (const Rank &R : Ranks)
    Polls.push_back({R.Output, POLLIN, 0}); // poll() ignores negative descriptors.
  bool Open = false;
  for (const Rank &R : Ranks)
    Open |= R.Output >= 0;
  if (!Open || poll(Polls.data(), Polls.size(), -1) < 0)
    return Open;
  for (size_t I = 0; I < Ranks.size(); ++I)
    if (Polls[I].revents)
      forward(Ranks[I]);
  return true;
}

int main(int Argc, char **Argv) {
  if (Argc < 3)
    return 98;
  int Count = std::atoi(Argv[1]);
  setenv("RANKS", Argv[1], 1);
  for (int Signal : {SIGINT, SIGTERM})
    signal(Signal, passOn);
  for (int Number = 0; Number < Count; ++Number)
    Ranks.push_back(startRank(Number, Argv + 2));
  while (forwardAll()) {
  }
  int Worst = 0;
  for (const Rank &R : Ranks) {
    int Status = 0;
    waitpid(R.Pid, &Status, 0);
    int Code = WIFSIGNALED(Status) ? 128 + WTERMSIG(Status) : WEXITSTATUS(Status);
    Worst = Code > Worst ? Code : Worst;
  }
  return Worst;
}
