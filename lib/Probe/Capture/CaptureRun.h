/// \file
/// A run in which launches are captured: at the entry of a wished launch all memory of the context
/// is written to files, at its exit the digests of what the launch left. The callbacks hand
/// everything to this, as they do to PlannedRun.
#pragma once

#include "Probe/Capture/CapturePlan.h"
#include "Probe/Capture/CapturedModules.h"
#include "Probe/Driver/LaunchCall.h"
#include "Probe/Driver/SubmissionGate.h"
#include "Probe/Memory/DeviceMemory.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace carve::probe {

struct TracedProcess;
class LaunchWriter;

class CaptureRun {
public:
  CaptureRun(TracedProcess &P, CapturePlan Wanted);
  ~CaptureRun();

  /// Every driver call that onCall() has to see.
  std::vector<CUpti_CallbackId> calls() const;
  /// A call of the program's, at entry and exit.
  void onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Resource);

private:
  void noteHazards(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void onLaunch(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void onLaunched(const CUpti_CallbackData &Call);
  /// The wish that this launch is, or the number of wishes.
  size_t wishOf(const LaunchCall &Launch);
  /// Writes what stands there before the launch. Returns why that cannot be; empty on success.
  std::string capture(const CapturePlan::Wish &Wish, const LaunchCall &Launch,
                      const CUpti_CallbackData &Call, LaunchWriter &Writer);
  std::string whyNot(const LaunchCall &Launch) const;

  TracedProcess &P;
  CapturePlan Wanted;
  DeviceMemory Memory;
  SubmissionGate Gate;
  CapturedModules Modules;
  std::set<CUpti_CallbackId> Gated, Launches, Memories;
  std::atomic<int> Textures{0}, Captures{0}; ///< Alive now.

  std::mutex Lock;            ///< Of Seen.
  std::vector<uint64_t> Seen; ///< Launches by wish.
};

/// Reads what \p File wishes. Returns why that fails; empty on success.
std::string startCaptureRun(TracedProcess &P, const char *File);

} // namespace carve::probe
