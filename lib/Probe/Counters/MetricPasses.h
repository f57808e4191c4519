/// \file
/// Divides the metrics that are wanted of a chip into passes that its counters can make in one run.
/// CUPTI's host functions say what fits; they need no device. One process makes one of the passes.
/// Thus no launch is ever repeated, and nothing has to be saved and restored.
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
  /// \p Availability is what the device lets this process count; empty means everything that the
  /// chip has.
  MetricPasses(const ProfilerApi &Api, std::string Chip, std::vector<uint8_t> Availability)
      : Api(Api), Chip(std::move(Chip)), Availability(std::move(Availability)) {}

  /// Puts each metric of \p Wanted into the first pass with room for it. The first metric is part
  /// of every pass. Fails if no pass results.
  Failure part(const std::vector<std::string> &Wanted);

  const std::string &chip() const { return Chip; }
  const std::vector<std::vector<std::string>> &passes() const { return Passes; }
  /// Returns the metrics that are in no pass, with the reasons.
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

/// CUPTI's object for some metrics of a chip, and the image that sets up the counters for them.
class PassImages {
public:
  explicit PassImages(const MetricPasses &Passes) : Passes(Passes) {}
  PassImages(const PassImages &) = delete;
  PassImages &operator=(const PassImages &) = delete;
  ~PassImages();

  /// Makes the object for \p Metrics. \p Unknown is set if the chip lacks one of them, which is no
  /// failure.
  Failure make(std::vector<std::string> Metrics, bool &Unknown);
  Failure passes(size_t &Number);
  /// Writes the values of the metrics in range 0 of \p CounterData to \p Values.
  Failure evaluate(const std::vector<uint8_t> &CounterData, std::vector<double> &Values) const;

  const std::vector<std::string> &metrics() const { return Metrics; }
  const std::vector<const char *> &names() const { return Names; }
  const std::vector<uint8_t> &config() const { return Config; }

private:
  Failure makeConfig();

  const MetricPasses &Passes;
  std::vector<std::string> Metrics;
  std::vector<const char *> Names; ///< The names in Metrics as CUPTI takes them.
  std::vector<uint8_t> Config;
  CUpti_Profiler_Host_Object *Host = nullptr;
};

} // namespace carve::probe
