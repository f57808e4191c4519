/// \file
/// A run that traces the program as it is: hazards, launches that overlap, and questions about
/// kernels. Kernels and images are recorded in every mode.
#pragma once

#include "Probe/Driver/Hazards.h"
#include "Probe/Driver/ProbeMode.h"
#include "Probe/Process/RecordFile.h"

namespace carve::probe {

struct DriverApi;

class TraceRun : public ProbeMode {
public:
  TraceRun(const DriverApi &Driver, RecordFile &File) : Driver(Driver), File(File) {}

  Roles calls() const override {
    return Role::LoadsImage | Role::LoadsFile | Role::AsksKernel | Role::LaunchAttributes |
           HazardCalls;
  }
  /// What the callbacks note of these in every mode is all that there is to note.
  std::set<CUpti_CallbackId> resources() const override {
    return {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_MODULE_LOADED};
  }
  void onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call) override;

private:
  void onProgrammaticLaunch(const void *Handle);
  void onQuery(CUpti_CallbackId Id, const CUpti_CallbackData &Call);

  const DriverApi &Driver;
  RecordFile &File;
  SeenHandles Programmatic; ///< Kernels that were recorded as launched so.
};

} // namespace carve::probe
