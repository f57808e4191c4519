/// \file
/// Parts the metrics that are wanted of a chip into passes that its counters can make, as CUPTI's
/// host functions tell; they need no device. One process makes one of the passes: no launch is ever
/// repeated, so that nothing has to be saved and restored.
#pragma once

#include "Probe/Counters/ProfilerApi.h"
#include "Probe/Process/Failure.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace carve::probe {

class MetricPasses {
public:
  /// \p Availability: what the device lets this process count; empty: all that the chip has.
  MetricPasses(const ProfilerApi &Api, std::string Chip, std::vector<uint8_t> Availability)
      : Api(Api), Chip(std::move(Chip)), Availability(std::move(Availability)) {}

  /// Puts each of \p Wanted into the first pass that has room; the first is part of all. Fails
  /// where that leaves no pass.
  Failure part(const std::vector<std::string> &Wanted);

  const std::string &chip() const { return Chip; }
  const std::vector<std::vector<std::string>> &passes() const { return Passes; }
  /// What is in no pass, with the reason.
  const std::vector<std::pair<std::string, std::string>> &left() const { return Left; }

private:
  friend class PassImages;
  Failure passesOf(const std::vector<std::string> &Metrics, size_t &Number) const;
  Failure place(const std::string &Metric);

  const ProfilerApi &Api;
  std::string Chip;
  std::vector<uint8_t> Availability;
  std::vector<std::vector<std::string>> Passes;
  std::vector<std::pair<std::string, std::string>> Left;
};

/// CUPTI's object for some metrics of a chip, and the image that sets the counters up for them.
class PassImages {
public:
  explicit PassImages(const MetricPasses &Passes) : Passes(Passes) {}
  PassImages(const PassImages &) = delete;
  PassImages &operator=(const PassImages &) = delete;
  ~PassImages();

  /// \p Unknown: the chip lacks one of the metrics, which is no failure.
  Failure make(std::vector<std::string> Metrics, bool &Unknown);
  Failure passes(size_t &Number);
  /// The values of the metrics in range 0 of \p CounterData.
  Failure evaluate(const std::vector<uint8_t> &CounterData, std::vector<double> &Values) const;

  const std::vector<std::string> &metrics() const { return Metrics; }
  const std::vector<const char *> &names() const { return Names; }
  const std::vector<uint8_t> &config() const { return Config; }

private:
  Failure makeConfig();

  const MetricPasses &Passes;
  std::vector<std::string> Metrics;
  std::vector<const char *> Names; ///< Of Metrics.
  std::vector<uint8_t> Config;
  CUpti_Profiler_Host_Object *Host = nullptr;
};

} // namespace carve::probe
