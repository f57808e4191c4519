/// \file
/// The mode of a run that traces the unchanged program. It records what affects how kernels may be
/// timed: hazards, launches that overlap others, and the program's own questions about attributes
/// and occupancy of kernels, and which graphs a timing run cannot launch node by node. It also
/// records which arguments have the same value at every launch, which addresses are apart, how the
/// time is divided among launches with different ones, and which launches are typical. Kernels and
/// images are recorded in every mode.
#pragma once

#include "Probe/Driver/Allocations.h"
#include "Probe/Driver/Hazards.h"
#include "Probe/Driver/ProbeMode.h"
#include "Probe/Graphs/ExecutableGraphs.h"
#include "Probe/Process/RecordFile.h"
#include "Probe/Trace/LaunchArguments.h"
#include "Probe/Trace/LaunchClasses.h"
#include "Probe/Trace/LaunchTimes.h"

namespace carve::probe {

/// The mode of such a run.
class TraceRun : public ProbeMode {
public:
  TraceRun(const CuptiApi &Cupti, const DriverApi &Driver, RecordFile &File)
      : Driver(Driver), File(File),
        Arguments([&Driver](uint64_t Address) { return allocationAt(Driver, Address); }),
        Graphs(Cupti, Driver) {}

  Roles calls() const override {
    return ChangesHandles | Role::AsksKernel | Role::Launch | HazardCalls |
           ExecutableGraphs::Calls | Role::GraphLaunch;
  }
  std::set<CUpti_CallbackId> unknownCalls() const override { return Graphs.unknownCalls(); }
  std::set<CUpti_CallbackId> resources() const override {
    // The callbacks record the first two in every mode.
    return {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_MODULE_LOADED,
            CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING};
  }
  void onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call) override;
  void onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Resource) override {
    if (Id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
      Graphs.contextDestroyed(Resource.context);
  }
  Counted onKernel(const CUpti_ActivityKernel10 &Record, const LaunchShape &Shape,
                   std::string &Lines) override;
  void finish() override { File.append(Classes.lines() + Times.lines()); }

private:
  /// The calls after which a kernel may have the handle of another one that is gone.
  static constexpr Roles ChangesHandles =
      Role::LoadsImage | Role::LoadsFile | Role::Unloads | Role::EndsContext;

  void onLaunched(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void onProgrammaticLaunch(const void *Handle);
  void onGraph(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void onNodes(const GraphCopy &Graph, uint64_t Correlation);
  void onQuery(CUpti_CallbackId Id, const CUpti_CallbackData &Call);

  const DriverApi &Driver;
  RecordFile &File;
  SeenHandles Programmatic; ///< The kernels that were recorded as launched in this way.
  LaunchArguments Arguments;
  LaunchClasses Classes;
  LaunchTimes Times;
  ExecutableGraphs Graphs;
};

} // namespace carve::probe
