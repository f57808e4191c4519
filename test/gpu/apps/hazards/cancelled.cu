// Threads are cancelled while they launch. The program ends as it would by itself, and prints the
// actions that it finds for the signals that end a program.
#include "Hazard.cuh"

#include <csignal>
#include <pthread.h>
#include <unistd.h>

__global__ void PRESS hot(float *Data) {
  Data[globalThread()] = mixed(Data[globalThread()], Rounds);
}

struct Job {
  float *Data;
  int Pipe[2];
};

/// Launches with a pending request to be cancelled, and ends at its own next cancellation point.
static void *launch(void *Argument) {
  auto *J = static_cast<Job *>(Argument);
  ::pthread_cancel(::pthread_self());
  for (int Launch = 0; Launch < Launches; ++Launch)
    hot<<<Count / 256, 256>>>(J->Data);
  char Byte = 0;
  return ::read(J->Pipe[0], &Byte, 1) == 1 ? Argument : nullptr;
}

int main() {
  Job J{deviceFloats(Count), {}};
  if (::pipe(J.Pipe) != 0)
    return 91;
  hot<<<Count / 256, 256>>>(J.Data); // A call that loads code may be cancelled inside the driver.
  CHECK(cudaDeviceSynchronize());
  for (int Turn = 0; Turn < 2; ++Turn) {
    pthread_t Thread;
    void *Result = nullptr;
    ::pthread_create(&Thread, nullptr, launch, &J);
    ::pthread_join(Thread, &Result);
    std::printf("cancelled: %d\n", Result == PTHREAD_CANCELED);
  }
  for (int Signal : {SIGTERM, SIGINT, SIGHUP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    struct sigaction Action{};
    ::sigaction(Signal, nullptr, &Action);
    std::printf("signal %d: %s\n", Signal, Action.sa_handler == SIG_DFL ? "default" : "handled");
  }
  printChecksum("cancelled", J.Data, Count);
}
