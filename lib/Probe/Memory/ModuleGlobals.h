/// \file
/// The __device__ variables of the modules that a program has loaded: memory that kernels write and
/// no allocation call returns. Their names come from the images that CUPTI shows, their addresses
/// from the driver.
#pragma once

#include "Probe/Driver/LoadedHandles.h"
#include "Probe/Memory/DeviceMemory.h"
#include "Probe/Process/Failure.h"

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace carve::probe {

/// What a module's machine code defines, by name.
struct ModuleSymbols {
  std::set<std::string, std::less<>> Kernels;
  std::set<std::string, std::less<>> Variables; ///< That kernels may write.
  std::set<std::string, std::less<>> Managed;   ///< Of these, `__managed__`.
  std::set<std::string, std::less<>> Constants;

  /// False where \p Elf is not such code.
  bool read(std::string_view Elf);
};

/// Thread-safe. Its lock is never held across a call of the driver.
class ModuleGlobals {
public:
  /// The driver calls that note() has to see, at entry and exit.
  static constexpr Roles Calls = LoadedHandles::Calls | Role::GivesVariable;
  /// The program loads or unloads a module, or asks for a variable's address.
  void note(CUpti_CallbackId Id, const CUpti_CallbackData &Call);

  /// The driver has loaded this image.
  void loaded(const char *Image, size_t Bytes);
  /// \p Context ends, and with it what the program had asked for there.
  void contextDestroyed(CUcontext Context);

  /// Where \p Kernel is.
  struct Place {
    const std::string &Kernel;
    CUmodule Module;
    CUcontext Context;
  };
  /// Adds the variables of the kernel's module and of all others that are loaded in its context, as
  /// a kernel may have left their addresses in memory, to \p Ranges; with \p Constants also what no
  /// kernel writes, for the addresses that may be there. Fails where a replay cannot know them
  /// all.
  Failure addTo(std::vector<MemoryRange> &Ranges, const DriverApi &Driver, const Place &Where,
                bool Constants) const;

private:
  using Image = ModuleSymbols;
  using Names = std::set<std::string, std::less<>>;
  using Found = std::map<CUdeviceptr, MemoryRange>;

  Found ofAllModules(const DriverApi &Driver, CUcontext Context) const;
  void forgetFound();

  LoadedHandles Handles;
  mutable std::mutex Lock;
  std::map<std::string, Image> Images; ///< By digest: a module may be loaded a million times.
  Names Managed;                       ///< Over all images.
  Found Asked;
  /// By context: what ofAllModules() has found since the last load or unload, of which Changes
  /// tells.
  mutable std::map<CUcontext, Found> Known;
  uint64_t Changes = 0;
};

} // namespace carve::probe
