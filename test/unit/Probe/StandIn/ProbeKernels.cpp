/// \file
/// The probe's device kernels as C++: what the images that the probe loads for itself contain here.

#include "unit/Probe/StandIn/Model.h"

using namespace carve::standin;

void carve::standin::registerProbeKernels() {}
