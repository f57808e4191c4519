/// \file
/// A run in which kernels count how often their blocks run: the images in place have variables with
/// counters (CARVE_PROBE_COUNTERS, Protocol.h), which are read before they go, with their module,
/// their context or the process. The callbacks hand everything to this, as they do to PlannedRun.
#pragma once

#include "Probe/Driver/LoadedHandles.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace carve::probe {

struct TracedProcess;

/// Thread-safe. Its lock is not held across calls of the driver.
class CountedRun {
public:
  /// \p Variables: their names.
  CountedRun(TracedProcess &P, std::vector<std::string> Variables)
      : P(P), Variables(std::move(Variables)) {}

  /// Every driver call that onCall() has to see.
  static const std::vector<CUpti_CallbackId> &calls();
  /// A call of the program's, at entry and exit.
  void onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Resource);
  /// The load call that this thread is in gets an image with counters.
  void onReplaced();
  /// At the end of the process, before the file is sealed: reads what is there still, and writes
  /// the records.
  void finish();

private:
  /// A variable at an address. Addresses differ between contexts and modules that are there at a
  /// time.
  struct Place {
    CUcontext Context = nullptr;
    void *Handle = nullptr;
    std::string Variable;
    std::vector<uint64_t> Sums; ///< By counter, as last read.
  };

  void read(CUcontext Context);
  void readVariable(CUcontext Context, const LoadedHandle &From, const std::string &Name);
  void loaded(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void onUnload(void *Handle, const CUpti_CallbackData &Call);
  void readAll();
  /// What was read of places that \p Gone says are gone stays counted.
  template <class F> void settle(F Gone);
  void lose(const std::string &Why);

  TracedProcess &P;
  std::vector<std::string> Variables;

  std::mutex Lock; ///< Of what follows.
  std::set<CUcontext> Contexts;
  std::set<LoadedHandle> Owners;
  std::map<CUdeviceptr, Place> Places;
  std::map<std::string, std::map<size_t, uint64_t>> Settled; ///< By variable and counter.
};

/// \p Names: of the variables, parted by commas. Returns why they cannot be read; empty on success.
std::string startCountedRun(TracedProcess &P, const char *Names);

} // namespace carve::probe
