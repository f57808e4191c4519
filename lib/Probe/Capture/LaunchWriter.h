/// \file
/// Writes one captured launch into its folder: what stands before it, and the digests of what it
/// leaves. The program is held meanwhile (SubmissionGate.h), and the context is current and idle.
#pragma once

#include "Probe/Capture/CaptureFolder.h"
#include "Probe/Capture/CapturedModules.h"
#include "Probe/Memory/DeviceMemory.h"
#include "Probe/Memory/PointerScan.h"

#include <string>
#include <vector>

namespace carve::probe {

/// Where a function returns a text, it is why the launch cannot be captured; empty on success.
class LaunchWriter {
public:
  LaunchWriter(const DriverApi &Driver, const CaptureApi &Api, const std::string &Directory,
               size_t Wish);

  CaptureFolder Folder;

  void addAttributes(const LaunchCall &Launch, CUfunction Function);
  /// Which memory is written: all of \p Context and the kernel's variables. What lies elsewhere
  /// must not be pointed to.
  void choose(const std::vector<MemoryRange> &Ranges, CUcontext Context,
              const CapturedModules::Kernel &Kernel);
  std::string addParameters(const LaunchCall &Launch, const CapturedModules::Kernel &Kernel);
  std::string addMemory();
  std::string addContainer(const LoadedContainer &Container);
  /// When the launch is done.
  std::string addAfter();

private:
  /// Something whose bytes are captured.
  struct Part {
    CUdeviceptr Base = 0;
    size_t Bytes = 0;
  };
  std::string read(const Part &From, size_t At, size_t &Bytes);
  std::string check(const char *Data, size_t Bytes, CUdeviceptr At) const;

  const DriverApi &Driver;
  const CaptureApi &Api;
  PointerScan Forbidden;
  std::vector<Part> Parts;
  std::vector<char> Chunk;
};

} // namespace carve::probe
