#include "Probe/Driver/Allocations.h"

using namespace carve::probe;

uint64_t carve::probe::allocationAt(const DriverApi &Driver, uint64_t Address) {
  if (!Driver.PointerGetAttributes)
    return 0;
  // Memory of other kinds cannot be shared in the old way. An address of no memory leaves what it
  // finds.
  CUpointer_attribute Attributes[] = {CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
                                      CU_POINTER_ATTRIBUTE_RANGE_START_ADDR};
  uint64_t Capable = 0, Start = 0;
  void *Answers[] = {&Capable, &Start};
  if (Driver.PointerGetAttributes(2, Attributes, Answers, Address) != CUDA_SUCCESS)
    return 0;
  return uint8_t(Capable) ? Start : 0; // The driver writes the first byte or four.
}
