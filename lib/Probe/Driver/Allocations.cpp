#include "Probe/Driver/Allocations.h"

using namespace carve::probe;

Allocation carve::probe::allocationAt(const DriverApi &Driver, uint64_t Address) {
  if (!Driver.PointerGetAttributes)
    return {};
  // Memory of other kinds cannot be shared in the old way. An address of no memory leaves what it
  // finds.
  CUpointer_attribute Attributes[] = {CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
                                      CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                      CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  uint64_t Capable = 0;
  Allocation Found;
  void *Answers[] = {&Capable, &Found.Start, &Found.Bytes};
  if (Driver.PointerGetAttributes(3, Attributes, Answers, Address) != CUDA_SUCCESS)
    return {};
  return uint8_t(Capable) ? Found : Allocation(); // The driver writes the first byte or four.
}
