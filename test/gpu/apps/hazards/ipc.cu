// Two processes share memory: the first owns it, the second has imported it, and the hot kernel
// runs in both in turn.
#include "Hazard.cuh"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void PRESS hot(float *Data) {
  Data[globalThread()] = mixed(Data[globalThread()], Rounds);
}

template <class T> static void give(int To, const T &Value) {
  if (write(To, &Value, sizeof Value) != ssize_t(sizeof Value))
    std::exit(91);
}
template <class T> static void take(int From, T &Value) {
  if (read(From, &Value, sizeof Value) != ssize_t(sizeof Value))
    std::exit(92);
}

/// The other process answers every turn with one of its own.
static void takeTurns(int Peer, float *Data, bool First) {
  char Token = 0;
  for (int Launch = 0; Launch < Launches; ++Launch) {
    if (!First || Launch > 0)
      take(Peer, Token);
    hot<<<Count / 256, 256>>>(Data);
    CHECK(cudaDeviceSynchronize());
    give(Peer, Token);
  }
}

static int import(int Peer) {
  cudaIpcMemHandle_t Handle;
  void *Data = nullptr;
  take(Peer, Handle);
  bool Opened = cudaIpcOpenMemHandle(&Data, Handle, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess;
  give(Peer, Opened);
  if (!Opened)
    return 0;
  takeTurns(Peer, static_cast<float *>(Data), /*First=*/false);
  CHECK(cudaIpcCloseMemHandle(Data));
  return 0;
}

int main() {
  int Ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, Ends) != 0)
    return 93;
  pid_t Child = fork(); // The fork comes before either process uses CUDA.
  if (Child == 0)
    return import(Ends[1]);
  float *Data = deviceFloats(Count);
  cudaIpcMemHandle_t Handle;
  CHECK(cudaIpcGetMemHandle(&Handle, Data));
  give(Ends[0], Handle);
  bool Opened = false;
  take(Ends[0], Opened);
  if (!Opened)
    std::printf("no memory is shared between processes here\n");
  else
    takeTurns(Ends[0], Data, /*First=*/true);
  char Token = 0;
  if (Opened)
    take(Ends[0], Token);
  printChecksum("ipc", Data, Count);
  int Status = 0;
  waitpid(Child, &Status, 0);
  return WEXITSTATUS(Status);
}
