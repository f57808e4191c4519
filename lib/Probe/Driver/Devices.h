/// \file
/// The `device` records: which GPUs the program uses and what their limits are.
#pragma once

#include "Probe/Driver/CuptiApi.h"

#include <atomic>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace carve::probe {

/// The version in the text of /proc/driver/nvidia/version or /sys/module/nvidia/version: its first
/// word that is made of two or more numbers with dots between them. `-` if no word is one.
std::string parseKernelDriverVersion(std::string_view Text);

/// The version of the loaded kernel driver, or `-`.
std::string kernelDriverVersion();

/// Notes devices inside callbacks, where the driver may hold its locks, and describes them later,
/// from a thread of ours or before a load call begins.
class Devices {
public:
  /// Reads what is not asked of the driver: at the start, while files may be opened.
  void start() { KernelDriver = kernelDriverVersion(); }

  /// Remembers the device \p Ordinal. Lock-free.
  void note(uint32_t Ordinal);

  /// Whether more than one was noted.
  bool several() const { return std::popcount(Noted.load(std::memory_order_relaxed)) > 1; }

  /// The `device` lines of the devices noted since the last call; empty where there are none or
  /// the driver does not answer.
  std::string describe(const DriverApi &Driver);

private:
  static constexpr uint32_t MaxDevices = 64;
  std::string KernelDriver = "-";
  std::atomic<uint64_t> Noted{0}, Described{0};
};

} // namespace carve::probe
