/// \file
/// A CUDA program on the stand-in driver: `Program SCENARIO [BAD]` does what the scenario says and
/// prints what it has computed. BAD is the fault of one clone of every kernel; a run without the
/// probe never launches it (ProgramKernels.h).

#include "unit/Probe/StandIn/Program.h"

#include "unit/Probe/StandIn/ImageFile.h"
#include "unit/Probe/StandIn/ProgramKernels.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace carve::standin;

#ifdef __SANITIZE_THREAD__
/// The sanitizer must not wait a second at the end for other threads to race. When a thread ends,
/// glibc frees the thread-local memory of threads that have ended before, with locks that the
/// sanitizer does not see.
extern "C" __attribute__((visibility("default"))) const char *__tsan_default_options() {
  return "atexit_sleep_ms=0";
}
extern "C" __attribute__((visibility("default"))) const char *__tsan_default_suppressions() {
  return "race:_dl_deallocate_tls";
}
#endif

void carve::standin::checkCall(CUresult Status, const char *Call) {
  if (Status == CUDA_SUCCESS)
    return;
  std::printf("%s: error %d\n", Call, int(Status));
  std::fflush(stdout);
  std::exit(90);
}

/// The program's device code, as nvcc would have embedded it.
static const void *embeddedImage() {
  static const std::string Image =
      imageFile({"scale", "step", "sum", "append", "count", "masked"}, {{"Counter", 64}},
                /*Managed=*/false, {{"Table", 8}, {"Locks", 8}});
  return Image.data();
}

Kernels::Kernels() {
  CHECK(cuLibraryLoadData(&Library, embeddedImage(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  for (auto [Name, Slot] : {std::pair{"scale", &Scale},
                            {"step", &Step},
                            {"sum", &Sum},
                            {"append", &Append},
                            {"count", &Count},
                            {"masked", &Masked}}) {
    CUkernel Kernel = nullptr;
    CHECK(cuLibraryGetKernel(&Kernel, Library, Name));
    *Slot = reinterpret_cast<CUfunction>(Kernel); // The runtime launches it in this way.
  }
}

const void *Kernels::image() { return embeddedImage(); }

void carve::standin::launch(CUfunction Kernel, CUstream Stream, std::vector<void *> Arguments,
                            unsigned Blocks) {
  CHECK(cuLaunchKernel(Kernel, Blocks, 1, 1, 64, 1, 1, 0, Stream, Arguments.data(), nullptr));
}

Buffer::Buffer(unsigned Count, unsigned Seed) : Count(Count) {
  CHECK(cuMemAlloc(&Base, Count * sizeof(float)));
  fill(Seed);
}

void Buffer::fill(unsigned Seed) const {
  std::vector<float> Host(Count);
  for (unsigned I = 0; I < Count; ++I)
    Host[I] = float((I * 31 + Seed) % 1009) / 1009;
  CHECK(cuMemcpyHtoD(Base, Host.data(), Count * sizeof(float)));
}

std::vector<unsigned> Buffer::words() const {
  std::vector<unsigned> Host(Count);
  CHECK(cuMemcpyDtoH(Host.data(), Base, Count * sizeof(float)));
  return Host;
}

uint64_t Buffer::checksum() const {
  uint64_t Sum = 14695981039346656037ull;
  for (unsigned Word : words())
    Sum = (Sum ^ Word) * 1099511628211ull;
  return Sum;
}

void Buffer::print(const char *Name) const {
  std::printf("%s %016llx\n", Name, static_cast<unsigned long long>(checksum()));
}

int main(int Argc, char **Argv) {
  std::string Wanted = Argc > 1 ? Argv[1] : "";
  registerProgramKernels(Argc > 2 ? Argv[2] : "");
  CHECK(cuInit(0));
  CUcontext Context = nullptr;
  CHECK(cuDevicePrimaryCtxRetain(&Context, 0));
  CHECK(cuCtxSetCurrent(Context));
  for (const Scenario &S : scenarios())
    if (Wanted == S.Name) {
      Kernels K;
      S.Run(K);
      std::fflush(stdout);
      return 0;
    }
  std::printf("no such scenario: %s\n", Wanted.c_str());
  return 2;
}
