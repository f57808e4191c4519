/// \file
/// Scenarios in which the arguments of a kernel's launches are of interest, and not only its
/// memory.

#include "unit/Probe/StandIn/Program.h"
#include "unit/Probe/StandIn/ProgramKernels.h"

#include <cstddef>

using namespace carve::standin;

/// Launches of one shape work on all elements and on half of them in turn.
static void twoLengths(Kernels &K, unsigned Launches) {
  Buffer Data(KnownCount, 1);
  for (unsigned L = 0; L < Launches; ++L) {
    unsigned Length = L % 2 ? KnownCount / 2 : KnownCount;
    launch(K.Step, nullptr, {&Data.Base, &Length});
  }
  Data.print("data");
}

void carve::standin::lengths(Kernels &K) { twoLengths(K, 40); }

void carve::standin::manyLengths(Kernels &K) { twoLengths(K, 1300); }

/// The first launches of a shape work on all elements, and the many later ones on a few.
void carve::standin::converging(Kernels &K) {
  constexpr unsigned Working = 12, Idle = 30;
  Buffer Data(KnownCount, 1);
  for (unsigned L = 0; L < Working + Idle; ++L) {
    unsigned Length = L < Working ? KnownCount : KnownCount / 64;
    launch(K.Step, nullptr, {&Data.Base, &Length});
  }
  Data.print("data");
}

/// The launches of a shape work on fewer and fewer elements, the last ones on those of \p Last.
static void shrinkingLaunches(Kernels &K, CUdeviceptr Last) {
  constexpr unsigned Launches = 128, FirstOfLast = 70;
  Buffer Data(KnownCount, 1);
  for (unsigned L = 0; L < Launches; ++L) {
    unsigned Length = KnownCount / Launches * (Launches - L);
    launch(K.Step, nullptr, {L >= FirstOfLast && Last ? &Last : &Data.Base, &Length});
  }
  Data.print("data");
}

void carve::standin::shrinking(Kernels &K) { shrinkingLaunches(K, 0); }

/// The last ones can not be replayed.
void carve::standin::shrinkingToManaged(Kernels &K) {
  CUdeviceptr Managed = 0;
  CHECK(cuMemAllocManaged(&Managed, KnownCount * sizeof(float), CU_MEM_ATTACH_GLOBAL));
  shrinkingLaunches(K, Managed);
  CHECK(cuMemFree(Managed));
}

/// The launches pass their arguments in a buffer.
void carve::standin::packed(Kernels &K) {
  Buffer Data(KnownCount, 1);
  struct {
    CUdeviceptr Base;
    unsigned Count;
  } Arguments{Data.Base, Data.Count};
  size_t Bytes = sizeof Arguments;
  void *Extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &Arguments, CU_LAUNCH_PARAM_BUFFER_SIZE, &Bytes,
                   CU_LAUNCH_PARAM_END};
  for (unsigned L = 0; L < 40; ++L)
    CHECK(cuLaunchKernel(K.Step, 16, 1, 1, 64, 1, 1, 0, nullptr, nullptr, Extra));
  Data.print("data");
}
