#include "Probe/Replay/Watchdog.h"

#include "Probe/Process/RecordFile.h"
#include "Protocol/Protocol.h"
#include "Protocol/TimingRecords.h"

#include <algorithm>
#include <ctime>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

using namespace carve;
using namespace carve::probe;

using Clock = std::chrono::steady_clock;

uint64_t carve::probe::steadyMs() {
  return uint64_t(
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch())
          .count());
}

uint64_t carve::probe::hangLimitMs(uint64_t LeastMs, double MeanNs) {
  return std::max(LeastMs, uint64_t(50 * std::max(MeanNs, 0.0) / 1e6));
}

std::string carve::probe::errorName(const DriverApi &Driver, CUresult Error) {
  const char *Name = nullptr;
  if (Driver.GetErrorName && Driver.GetErrorName(Error, &Name) == CUDA_SUCCESS && Name)
    return Name;
  return "error " + std::to_string(Error);
}

bool carve::probe::breaksContext(CUresult Error) {
  switch (Error) {
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_LAUNCH_FAILED:
  case CUDA_ERROR_ECC_UNCORRECTABLE:
    return true;
  default:
    return false;
  }
}

void Watchdog::wait(CUstream Stream, uint64_t LimitMs, const std::string &Kernel,
                    const std::string &Variant) {
  auto Begin = Clock::now();
  for (;;) {
    CUresult Result = Driver.StreamQuery(Stream);
    if (Result == CUDA_SUCCESS)
      return;
    if (Result != CUDA_ERROR_NOT_READY)
      fail(Kernel, Variant, errorName(Driver, Result));
    auto Passed = Clock::now() - Begin;
    if (Passed > std::chrono::milliseconds(LimitMs))
      fail(Kernel, Variant, "hung after " + std::to_string(LimitMs) + " ms");
    // Most kernels take some microseconds. A long one must not cost the program a core.
    if (Passed > std::chrono::milliseconds(2)) {
      timespec Pause{0, 50'000};
      ::nanosleep(&Pause, nullptr);
    } else {
      ::sched_yield();
    }
  }
}

void Watchdog::note(const std::string &Lines) {
  std::lock_guard<std::mutex> Guard(NotesLock);
  Notes += Lines;
}

std::string Watchdog::takeNotes() {
  std::lock_guard<std::mutex> Guard(NotesLock);
  return std::exchange(Notes, "");
}

void Watchdog::writeNotes() { File.append(takeNotes()); }

void Watchdog::fail(const std::string &Kernel, const std::string &Variant,
                    const std::string &Reason) {
  // If the program ends by itself and the driver is shut down before this call, that is no fault.
  // This thread must not go on with memory that a replay has changed.
  CUcontext Context;
  while (Driver.CtxGetCurrent && Driver.CtxGetCurrent(&Context) == CUDA_ERROR_DEINITIALIZED)
    ::pause();
  File.append(takeNotes() + recordLine(VariantFault{Kernel, Variant, Reason}));
  // The system call goes past every hook on the C library's _exit, including the probe's own.
  ::syscall(SYS_exit_group, FaultExitStatus);
  ::_exit(FaultExitStatus);
}

void Watchdog::expect(uint64_t LimitMs, const std::string &Kernel, const std::string &Variant) {
  std::lock_guard<std::mutex> Guard(Lock);
  Expected = Kernel;
  ExpectedVariant = Variant;
  DeadlineMs = steadyMs() + LimitMs;
}

void Watchdog::check() {
  uint64_t Deadline = DeadlineMs;
  if (!Deadline || steadyMs() < Deadline)
    return;
  std::lock_guard<std::mutex> Guard(Lock);
  if (DeadlineMs == Deadline)
    fail(Expected, ExpectedVariant, "hung waiting for the device");
}
