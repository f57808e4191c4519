/// \file
/// Scenarios with memory that a replay cannot put back without knowing whose it is: memory of the
/// host, managed memory, variables of other modules. One scenario runs in a sandbox.

#include "unit/Probe/StandIn/ImageFile.h"
#include "unit/Probe/StandIn/Program.h"
#include "unit/Probe/StandIn/StandIn.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

using namespace carve::standin;

static constexpr unsigned Count = 4096;
static constexpr int Launches = 40;

static void print(const char *Name, CUdeviceptr Base) {
  uint64_t Sum = 14695981039346656037ull;
  auto *Words = reinterpret_cast<const unsigned *>(Base); // NOLINT(performance-no-int-to-ptr)
  for (unsigned I = 0; I < Count; ++I)
    Sum = (Sum ^ Words[I]) * 1099511628211ull;
  std::printf("%s %016llx\n", Name, static_cast<unsigned long long>(Sum));
}

/// Launches a kernel that changes the memory at \p Hidden, although no argument has that address.
static void changeHidden(Kernels &K, CUdeviceptr Hidden) {
  CUdeviceptr Inverted = ~Hidden;
  Buffer Data(Count, 1);
  for (int L = 0; L < Launches; ++L)
    launch(K.Masked, nullptr, {&Data.Base, &Inverted, &Data.Count});
  CHECK(cuCtxSynchronize());
  Data.print("data");
}

void carve::standin::hostMasked(Kernels &K) {
  void *Host = nullptr;
  CHECK(cuMemHostAlloc(&Host, Count * sizeof(float), CU_MEMHOSTALLOC_DEVICEMAP));
  std::memset(Host, 0, Count * sizeof(float));
  changeHidden(K, reinterpret_cast<CUdeviceptr>(Host));
  print("host", reinterpret_cast<CUdeviceptr>(Host));
}

/// Much page-locked memory that no kernel uses.
static void hostLargeOver(Kernels &K, double BusNsPerByte) {
  constexpr size_t Bytes = size_t(24) << 20;
  void *Host = nullptr;
  CHECK(cuMemHostAlloc(&Host, Bytes, CU_MEMHOSTALLOC_DEVICEMAP));
  std::memset(Host, 1, Bytes);
  slowBus(reinterpret_cast<CUdeviceptr>(Host), Bytes, BusNsPerByte);
  Buffer Data(Count, 1);
  for (int L = 0; L < Launches; ++L)
    launch(K.Step, nullptr, {&Data.Base, &Data.Count});
  Data.print("data");
  print("host", reinterpret_cast<CUdeviceptr>(Host));
}

void carve::standin::hostLarge(Kernels &K) { hostLargeOver(K, 0); }

void carve::standin::hostLargeSlow(Kernels &K) { hostLargeOver(K, 20); }

void carve::standin::managedMasked(Kernels &K) {
  CUdeviceptr Base = 0;
  CHECK(cuMemAllocManaged(&Base, Count * sizeof(float), CU_MEM_ATTACH_GLOBAL));
  std::memset(reinterpret_cast<void *>(Base), 0, Count * sizeof(float)); // NOLINT
  changeHidden(K, Base);
  print("managed", Base);
}

/// A thread writes host memory that no kernel sees, and finds there what it has written.
void carve::standin::hostWritten(Kernels &K) {
  void *Host = nullptr;
  CHECK(cuMemHostAlloc(&Host, Count * sizeof(unsigned), CU_MEMHOSTALLOC_DEVICEMAP));
  auto *Words = static_cast<std::atomic<unsigned> *>(Host);
  std::memset(Host, 0, Count * sizeof(unsigned));
  std::atomic<bool> Stop{false};
  unsigned Lost = 0;
  std::thread Writer([&] {
    for (unsigned Turn = 1; !Stop; ++Turn) {
      // Some pauses are longer than a replay watches.
      Words[Turn % Count] = Turn;
      std::this_thread::sleep_for(std::chrono::milliseconds(Turn % 8 ? 3 : 30));
      Lost += Words[Turn % Count] != Turn;
    }
  });
  Buffer Data(Count, 1);
  for (int L = 0; L < Launches; ++L) {
    launch(K.Step, nullptr, {&Data.Base, &Data.Count});
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  CHECK(cuCtxSynchronize());
  Stop = true;
  Writer.join();
  Data.print("data");
  std::printf("lost %u\n", Lost);
}

/// Allocates host memory and returns the address of a constant. CUDA's runtime asks for the
/// addresses of constants, too, and not for their sizes.
static CUdeviceptr constantBesideHost(Kernels &K, void *&Host) {
  CHECK(cuMemHostAlloc(&Host, Count * sizeof(unsigned), CU_MEMHOSTALLOC_DEVICEMAP));
  std::memset(Host, 0, Count * sizeof(unsigned));
  CUdeviceptr Constant = 0, Before = 0;
  size_t Bytes = 0;
  CHECK(cuLibraryGetGlobal(&Before, nullptr, K.Library, "Table"));
  CHECK(cuLibraryGetGlobal(&Constant, &Bytes, K.Library, "Locks"));
  return Constant;
}

/// Keeps the address of host memory in a constant, as libraries do, and returns the constant's
/// address.
static CUdeviceptr constantWithHostAddress(Kernels &K) {
  void *Host = nullptr;
  CUdeviceptr Constant = constantBesideHost(K, Host);
  CHECK(cuMemcpyHtoD(Constant, &Host, sizeof Host));
  return Constant;
}

void carve::standin::hostInConstant(Kernels &K) {
  constantWithHostAddress(K);
  Buffer Data(Count, 1);
  for (int L = 0; L < Launches; ++L)
    launch(K.Step, nullptr, {&Data.Base, &Data.Count});
  Data.print("data");
}

/// Passes the address of the constant to a kernel, which adds what it reads there.
void carve::standin::constantAsArgument(Kernels &K) {
  CUdeviceptr Constant = constantWithHostAddress(K);
  unsigned Two = 2;
  for (int L = 0; L < Launches; ++L) {
    Buffer Out(2, unsigned(L));
    launch(K.Scale, nullptr, {&Out.Base, &Constant, &Two});
    Out.free();
  }
}

/// Launches a kernel in whose memory the address of the constant is, so that it may find it.
static void launchWithPointer(Kernels &K, CUdeviceptr Constant) {
  Buffer Data(Count, 1);
  CHECK(cuMemcpyHtoD(Data.Base + 512, &Constant, sizeof Constant));
  for (int L = 0; L < Launches; ++L) {
    Buffer Out(Count, unsigned(L));
    launch(K.Scale, nullptr, {&Out.Base, &Data.Base, &Data.Count});
    Out.free();
  }
}

void carve::standin::constantInMemory(Kernels &K) {
  launchWithPointer(K, constantWithHostAddress(K));
}

/// The constant holds numbers only.
void carve::standin::factorsInMemory(Kernels &K) {
  void *Host = nullptr;
  CUdeviceptr Constant = constantBesideHost(K, Host);
  const float Factors[2] = {0.5f, 0.25f};
  CHECK(cuMemcpyHtoD(Constant, Factors, sizeof Factors));
  launchWithPointer(K, Constant);
}

/// A kernel of another module has left the address of its variable, for which nobody has asked.
static CUdeviceptr addressOfTable(const std::string &Image) {
  CUmodule Module = nullptr;
  CUfunction Tell = nullptr;
  CHECK(cuModuleLoadData(&Module, Image.data()));
  CHECK(cuModuleGetFunction(&Tell, Module, "tell"));
  Buffer Where(2, 1);
  launch(Tell, nullptr, {&Where.Base});
  CUdeviceptr Inverted = 0;
  CHECK(cuMemcpyDtoH(&Inverted, Where.Base, sizeof Inverted));
  Where.free();
  return ~Inverted;
}

void carve::standin::linkedVariable(Kernels &K) {
  static const std::string Image = imageFile({"tell"}, {{"Table", Count * sizeof(float)}});
  CUdeviceptr Table = addressOfTable(Image);
  changeHidden(K, Table);
  print("table", Table);
}

void carve::standin::managedVariable(Kernels &K) {
  static const std::string Image =
      imageFile({"tell"}, {{"Table", Count * sizeof(float)}}, /*Managed=*/true);
  CUdeviceptr Table = addressOfTable(Image);
  changeHidden(K, Table);
  print("table", Table);
}

void carve::standin::unknownCall(Kernels &K) {
  Buffer Data(Count, 1);
  callUnheardOf();
  for (int L = 0; L < Launches; ++L)
    launch(K.Step, nullptr, {&Data.Base, &Data.Count});
  Data.print("data");
}

#define FORBID(Call)                                                                               \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##Call, 0, 1),                                           \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

/// From here on the system kills the program if it opens a file or asks about one.
static bool forbidFiles() {
  sock_filter Filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      FORBID(openat),
      FORBID(statx),
      FORBID(newfstatat),
      FORBID(fstat),
      FORBID(fcntl),
      FORBID(readlinkat),
      FORBID(faccessat),
      FORBID(renameat),
      FORBID(renameat2),
      FORBID(unlinkat),
      FORBID(mkdirat),
#ifdef SYS_open
      FORBID(open),
      FORBID(stat),
      FORBID(lstat),
      FORBID(access),
      FORBID(readlink),
      FORBID(rename),
      FORBID(unlink),
      FORBID(mkdir),
#endif
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog Program{sizeof Filter / sizeof *Filter, Filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &Program) == 0;
}

void carve::standin::sandboxed(Kernels &K) {
  Buffer Data(Count, 1);
  std::printf("before\n"); // The first output asks what kind of file it goes to.
  std::fflush(stdout);
  std::printf(forbidFiles() ? "sandboxed\n" : "no filters here\n");
  // The device has no room for this twice, so the rest of the copy goes to the host's memory.
  setDeviceMemory(size_t(16) << 20);
  CUdeviceptr Most = 0;
  CHECK(cuMemAlloc(&Most, size_t(9) << 20));
  CHECK(cuMemsetD8(Most, 1, size_t(9) << 20));
  for (int L = 0; L < Launches; ++L)
    launch(K.Step, nullptr, {&Data.Base, &Data.Count});
  Data.print("data");
}
