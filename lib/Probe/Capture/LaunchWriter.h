/// \file
/// Writes one captured launch into its folder: the state before the launch, and the digests of what
/// it leaves. In the meantime the program is held (SubmissionGate.h), and the context is current
/// and idle.
#pragma once

#include "Probe/Capture/CaptureFolder.h"
#include "Probe/Capture/CapturedModules.h"
#include "Probe/Memory/DeviceMemory.h"
#include "Probe/Memory/PointerScan.h"
#include "Probe/Process/Failure.h"

#include <string>
#include <vector>

namespace carve::probe {

/// Writes one capture. A failure says why the launch cannot be captured.
class LaunchWriter {
public:
  LaunchWriter(const DriverApi &Driver, const CaptureApi &Api, const std::string &Directory,
               size_t Wish);

  CaptureFolder Folder;

  void addAttributes(const LaunchCall &Launch, CUfunction Function);
  /// Chooses which memory is written: all memory of \p Context, and the kernel's variables. No
  /// pointer may lead to any other memory.
  void choose(const std::vector<MemoryRange> &Ranges, CUcontext Context,
              const CapturedModules::Kernel &Kernel);
  Failure addParameters(const LaunchCall &Launch, const CapturedModules::Kernel &Kernel);
  Failure addMemory();
  Failure addContainer(const LoadedContainer &Container);
  /// Writes the digests; called after the launch has ended.
  Failure addAfter();

private:
  /// A range of memory whose bytes are captured.
  struct Part {
    CUdeviceptr Base = 0;
    size_t Bytes = 0;
  };
  Failure read(const Part &From, size_t At, size_t &Bytes);
  Failure check(const char *Data, size_t Bytes, CUdeviceptr At) const;

  const DriverApi &Driver;
  const CaptureApi &Api;
  PointerScan Forbidden;
  std::vector<Part> Parts;
  std::vector<char> Chunk;
};

} // namespace carve::probe
