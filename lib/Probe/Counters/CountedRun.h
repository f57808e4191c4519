/// \file
/// A run in which kernels count how often their blocks run. The replacing images have variables
/// with counters (CARVE_PROBE_COUNTERS, Protocol.h). The probe reads them before they disappear
/// with their module, their context or the process.
#pragma once

#include "Probe/Driver/CuptiApi.h"
#include "Probe/Driver/LoadedHandles.h"
#include "Probe/Driver/ProbeMode.h"
#include "Probe/Process/Failure.h"
#include "Probe/Process/RecordFile.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace carve::probe {

/// The mode of such a run. Thread-safe. Its lock is not held across calls of the driver.
class CountedRun : public ProbeMode {
public:
  /// \p Variables are the names of the variables with counters.
  CountedRun(const DriverApi &Driver, RecordFile &File, std::vector<std::string> Variables)
      : Driver(Driver), File(File), Variables(std::move(Variables)) {}

  Roles calls() const override { return Role::LoadsImage | Role::Unloads | Role::EndsContext; }
  std::set<CUpti_CallbackId> resources() const override;
  void onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call) override;
  void onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Resource) override;
  void onImageReplaced() override;
  void ending() override { Finishing = true; }
  /// Reads the variables that still exist, and writes the records.
  void finish() override;

private:
  /// A variable at an address. Contexts and modules that exist at the same time have different
  /// addresses.
  struct Place {
    CUcontext Context = nullptr;
    void *Handle = nullptr;
    std::string Variable;
    std::vector<uint64_t> Sums; ///< The counters' values when they were last read.
  };

  void read(CUcontext Context);
  void readVariable(CUcontext Context, const LoadedHandle &From, const std::string &Name);
  void loaded(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void onUnload(void *Handle, const CUpti_CallbackData &Call);
  void readAll();
  /// Keeps the counts of the places for which \p Gone returns true, and forgets the places.
  template <class F> void settle(F Gone);
  void lose(const std::string &Why);

  const DriverApi &Driver;
  RecordFile &File;
  std::vector<std::string> Variables;
  /// Set when the process ends: the runtime unloads its libraries after everything was read.
  std::atomic<bool> Finishing{false};

  std::mutex Lock; ///< Protects the members below.
  std::set<CUcontext> Contexts;
  std::set<LoadedHandle> Owners;
  std::map<CUdeviceptr, Place> Places;
  /// The counts of places that are gone, by variable and counter.
  std::map<std::string, std::map<size_t, uint64_t>> Settled;
};

/// Makes \p Mode. \p Names are the names of the variables, separated by commas.
Failure startCountedRun(const char *Names, const DriverApi &Driver, RecordFile &File,
                        std::unique_ptr<ProbeMode> &Mode);

} // namespace carve::probe
