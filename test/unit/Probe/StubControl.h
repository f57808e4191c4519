/// \file
/// How the test program makes the stand-in for CUPTI act as the real one does when the driver runs
/// a kernel or enters a call.
#pragma once

#include <cuda.h>
#include <cupti.h>

extern "C" {
/// Says that a kernel has run: a record goes into the current activity buffer.
__attribute__((visibility("default"))) void stubActivity(const CUpti_ActivityKernel10 *Record);
/// Makes a callback. It is delivered only if there is a subscriber that has enabled it.
__attribute__((visibility("default"))) void stubCallback(CUpti_CallbackDomain Domain,
                                                         CUpti_CallbackId Id, const void *Data);
}
