// The pressed kernel in a program of its own, with blocks of THREADS (256).
// The argument says how to end: `fail`, `kill`, `hang`, or none.
#include "Pressed.cuh"

#include <csignal>
#include <cstring>
#include <unistd.h>

#ifndef THREADS
#define THREADS 256
#endif

int main(int Argc, char **Argv) {
  constexpr int Count = 1 << 20;
  const char *How = Argc > 1 ? Argv[1] : "";
  float *Data = deviceFloats(Count);
  for (int Launch = 0; Launch < 20; ++Launch)
    pressed<<<(Count + THREADS - 1) / THREADS, THREADS>>>(Data, Count, 40);
  CHECK(cudaGetLastError());
  printChecksum("pressed", Data, Count);
  if (!std::strcmp(How, "kill"))
    raise(SIGKILL);
  if (!std::strcmp(How, "hang"))
    sleep(60);
  return !std::strcmp(How, "fail") ? 3 : 0;
}
