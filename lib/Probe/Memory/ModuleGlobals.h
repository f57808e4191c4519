/// \file
/// Finds the __device__ variables of the modules that a program has loaded: memory that kernels
/// write and that no allocation call returns. Their names come from the images that CUPTI shows,
/// and their addresses from the driver.
#pragma once

#include "Probe/Driver/LoadedHandles.h"
#include "Probe/Memory/DeviceMemory.h"
#include "Probe/Process/Failure.h"

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace carve::probe {

/// The names that a module's machine code defines.
struct ModuleSymbols {
  std::set<std::string, std::less<>> Kernels;
  std::set<std::string, std::less<>> Variables; ///< The variables that kernels may write.
  std::set<std::string, std::less<>> Managed;   ///< Those of Variables that are `__managed__`.
  std::set<std::string, std::less<>> Constants;

  /// Reads the names from the cubin \p Elf. Returns false if it is not one.
  bool read(std::string_view Elf);
};

/// The modules of a process and their variables. Thread-safe. Its lock is never held across a call
/// of the driver.
class ModuleGlobals {
public:
  /// The driver calls that note() must see, at entry and exit.
  static constexpr Roles Calls = LoadedHandles::Calls | Role::GivesVariable;
  /// Takes note of a call by which the program loads or unloads a module, or asks for a variable's
  /// address.
  void note(CUpti_CallbackId Id, const CUpti_CallbackData &Call);

  /// Takes note of an image of \p Bytes bytes that the driver has loaded.
  void loaded(const char *Image, size_t Bytes);
  /// Called when \p Context ends. The variables that the program had asked for there are gone.
  void contextDestroyed(CUcontext Context);

  /// Says which kernel is to be replayed, and in which module and context it is.
  struct Place {
    const std::string &Kernel;
    CUmodule Module;
    CUcontext Context;
  };
  /// Adds the variables of the kernel's module and of all other modules in its context to
  /// \p Ranges. Those of other modules count because a kernel may find their addresses in memory.
  /// Fails if it cannot know all of them.
  Failure addTo(std::vector<MemoryRange> &Ranges, const DriverApi &Driver,
                const Place &Where) const;
  /// Finds constants, which may hold addresses. \p Named gets those of the kernel's module whose
  /// names are in \p Names, and \p Unnamed the rest of that module's and those of other modules
  /// whose addresses the program has asked for (addTo() adds these, too). Fails as addTo().
  Failure findConstants(std::vector<MemoryRange> &Named, std::vector<MemoryRange> &Unnamed,
                        const DriverApi &Driver, const Place &Where,
                        const std::set<std::string> &Names) const;

private:
  using Image = ModuleSymbols;
  using Names = std::set<std::string, std::less<>>;
  using Found = std::map<CUdeviceptr, MemoryRange>;
  /// Takes a variable of the kernel's module.
  using Taker = std::function<void(const std::string &Name, const MemoryRange &Range)>;

  Failure ofOwnModule(Names Image::*Kind, const DriverApi &Driver, const Place &Where,
                      const Taker &Take) const;
  Found askedConstants(CUcontext Context) const;
  Found ofAllModules(const DriverApi &Driver, CUcontext Context) const;
  void forgetFound();

  LoadedHandles Handles;
  mutable std::mutex Lock;
  /// The images by their digest, because a module may be loaded a million times.
  std::map<std::string, Image> Images;
  Names Managed; ///< The managed variables of all images.
  /// The variables whose addresses the program has asked for, by address.
  struct AskedVariable {
    MemoryRange Range;
    std::string Name;
  };
  std::map<CUdeviceptr, AskedVariable> Asked;
  /// What ofAllModules() has found in each context since the last load or unload. Changes counts
  /// the loads and unloads.
  mutable std::map<CUcontext, Found> Known;
  uint64_t Changes = 0;
};

} // namespace carve::probe
