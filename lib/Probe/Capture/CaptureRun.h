/// \file
/// A run in which launches are captured (CARVE_PROBE_CAPTURE). At the entry of such a launch, all
/// memory of the context is written to files; at its exit, the digests of what the launch left.
/// Graphs with a kernel that is to be captured are launched node by node.
#pragma once

#include "Probe/Capture/CapturePlan.h"
#include "Probe/Capture/CapturedModules.h"
#include "Probe/Driver/LaunchCall.h"
#include "Probe/Driver/ProbeMode.h"
#include "Probe/Driver/Submissions.h"
#include "Probe/Memory/DeviceMemory.h"
#include "Probe/Process/Failure.h"
#include "Probe/Replay/GraphLaunches.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace carve::probe {

class LaunchWriter;

class CaptureRun : public ProbeMode {
public:
  CaptureRun(const CuptiApi &Cupti, const DriverApi &Driver, RecordFile &File,
             Submissions &Submitted, CapturePlan Wanted);

  Roles calls() const override {
    return Role::Gated | LaunchCall::Calls | DeviceMemory::Calls | CapturedModules::Calls |
           StreamCaptures::Calls | Role::BindsTexture | Role::UnbindsTexture | GraphLaunches::Calls;
  }
  std::set<CUpti_CallbackId> unknownCalls() const override { return ByNode.unknownCalls(); }
  std::set<CUpti_CallbackId> resources() const override;
  void onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call) override;
  void onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Resource) override;
  /// Ends the process if a graph hangs because its nodes are launched one by one.
  void check() override { ByNode.check(); }

private:
  void noteTextures(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void onLaunch(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void onLaunched(const CUpti_CallbackData &Call);
  /// Returns the number of the wish that this launch fulfils, or the number of wishes if there is
  /// none.
  size_t wishOf(const LaunchCall &Launch);
  /// Writes the state before the launch. Fails if the launch cannot be captured.
  Failure capture(const CaptureWish &Wish, const LaunchCall &Launch, const CUpti_CallbackData &Call,
                  LaunchWriter &Writer);
  Failure whyNot(const LaunchCall &Launch) const;

  const DriverApi &Driver;
  Submissions &Submitted;
  CapturePlan Wanted;
  Watchdog Dog;
  GraphLaunches ByNode;
  DeviceMemory Memory;
  CapturedModules Modules;
  std::atomic<int> Textures{0}; ///< The number of texture objects that exist.

  std::mutex Lock;            ///< Protects Seen.
  std::vector<uint64_t> Seen; ///< The number of launches of each wish.
};

/// Reads the wishes in the file \p Path and makes \p Mode of them. Fails if the file cannot be
/// used.
Failure startCaptureRun(const char *Path, const CuptiApi &Cupti, const DriverApi &Driver,
                        RecordFile &File, Submissions &Submitted, std::unique_ptr<ProbeMode> &Mode);

} // namespace carve::probe
