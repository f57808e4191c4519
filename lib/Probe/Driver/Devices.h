/// \file
/// Writes the `device` records: which GPUs the program uses and what their limits are.
#pragma once

#include "Probe/Driver/CuptiApi.h"

#include <atomic>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace carve::probe {

/// Returns the version in \p Text, the content of /proc/driver/nvidia/version or
/// /sys/module/nvidia/version: the first word that consists of two or more numbers with dots
/// between them, or `-` if there is no such word.
std::string parseKernelDriverVersion(std::string_view Text);

/// Returns the version of the loaded kernel driver, or `-` if it cannot be read.
std::string kernelDriverVersion();

/// Remembers devices inside callbacks, in which the driver may hold its locks, and describes them
/// later, from a thread of the probe or before a load call begins.
class Devices {
public:
  /// Reads the version of the kernel driver, which comes from a file. Must be called when the
  /// process starts, while files may still be opened.
  void start() { KernelDriver = kernelDriverVersion(); }

  /// Remembers the device \p Ordinal. Lock-free.
  void note(uint32_t Ordinal);

  /// Returns whether more than one device was noted.
  bool several() const { return std::popcount(Noted.load(std::memory_order_relaxed)) > 1; }

  /// Returns the `device` lines of the devices that were noted since the last call. The result is
  /// empty if there are none or the driver does not answer.
  std::string describe(const DriverApi &Driver);

private:
  static constexpr uint32_t MaxDevices = 64;
  std::string KernelDriver = "-";
  std::atomic<uint64_t> Noted{0}, Described{0};
};

} // namespace carve::probe
