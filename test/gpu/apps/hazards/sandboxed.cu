// Once CUDA runs, the program forbids itself to look up, make, rename or remove files. The system
// kills it if it tries.
#include "Hazard.cuh"

#include <cstddef>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

__global__ void PRESS hot(float *Data) {
  Data[globalThread()] = mixed(Data[globalThread()], Rounds);
}

#define FORBID(Call)                                                                               \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##Call, 0, 1),                                           \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static void forbidFiles() {
  sock_filter Filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      FORBID(statx),
      FORBID(renameat),
      FORBID(renameat2),
      FORBID(unlinkat),
      FORBID(mkdirat),
      FORBID(ftruncate),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog Program{sizeof Filter / sizeof *Filter, Filter};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &Program) != 0)
    std::printf("no filters here\n");
}

int main() {
  float *Data = deviceFloats(Count);
  CHECK(cudaDeviceSynchronize());
  forbidFiles();
  for (int Launch = 0; Launch < Launches; ++Launch)
    hot<<<Count / 256, 256>>>(Data);
  printChecksum("sandboxed", Data, Count);
}
