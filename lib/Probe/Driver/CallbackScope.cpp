#include "Probe/Driver/CallbackScope.h"

using namespace carve::probe;

// In a header they would be symbols that the library exports in some builds.
static thread_local int Depth = 0;
static thread_local int Count = 0;

int &CallbackScope::depth() { return Depth; }

int &ProgramCalls::count() { return Count; }
