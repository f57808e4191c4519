/// \file
/// A run in which kernels count how often their blocks run: the images in place have variables with
/// counters (CARVE_PROBE_COUNTERS, Protocol.h), which are read before they go, with their module,
/// their context or the process.
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

/// Thread-safe. Its lock is not held across calls of the driver.
class CountedRun : public ProbeMode {
public:
  /// \p Variables: their names.
  CountedRun(const DriverApi &Driver, RecordFile &File, std::vector<std::string> Variables)
      : Driver(Driver), File(File), Variables(std::move(Variables)) {}

  Roles calls() const override { return Role::LoadsImage | Role::Unloads | Role::EndsContext; }
  std::set<CUpti_CallbackId> resources() const override;
  void onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call) override;
  void onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Resource) override;
  void onImageReplaced() override;
  void ending() override { Finishing = true; }
  /// Reads what is there still, and writes the records.
  void finish() override;

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

  const DriverApi &Driver;
  RecordFile &File;
  std::vector<std::string> Variables;
  std::atomic<bool> Finishing{false}; ///< The runtime unloads its libraries when all has been read.

  std::mutex Lock; ///< Of what follows.
  std::set<CUcontext> Contexts;
  std::set<LoadedHandle> Owners;
  std::map<CUdeviceptr, Place> Places;
  std::map<std::string, std::map<size_t, uint64_t>> Settled; ///< By variable and counter.
};

/// Makes \p Mode, with \p Names of the variables, parted by commas.
Failure startCountedRun(const char *Names, const DriverApi &Driver, RecordFile &File,
                        std::unique_ptr<ProbeMode> &Mode);

} // namespace carve::probe
