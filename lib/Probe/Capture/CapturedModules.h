/// \file
/// Finds what a captured launch needs of its kernel's module: the container as the program passed
/// it, the variables with their addresses, and the places of the parameters.
#pragma once

#include "Probe/Driver/Container.h"
#include "Probe/Driver/CuptiApi.h"
#include "Probe/Driver/DriverCalls.h"
#include "Probe/Driver/LaunchCall.h"
#include "Probe/Process/Failure.h"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace carve::probe {

/// A container that the program has loaded.
struct LoadedContainer {
  const void *Data = nullptr;
  size_t Bytes = 0;
  std::string Call;
  /// A copy of the bytes if they lie in no loaded file, because the program may free them.
  std::string Copy;
};

/// A part of the parameter buffer.
struct ParameterPlace {
  size_t Offset = 0, Bytes = 0;
};

/// A variable of the module and its address.
struct VariablePlace {
  std::string Name;
  CUdeviceptr Base = 0;
  size_t Bytes = 0;
};

/// The functions of the driver that only captures need. A function that the driver lacks is null.
struct CaptureApi {
  decltype(&cuMemcpyDtoH) MemcpyDtoH = nullptr;
  decltype(&cuCtxGetLimit) CtxGetLimit = nullptr;
  decltype(&cuLibraryGetGlobal) LibraryGetGlobal = nullptr;
  decltype(&cuLibraryGetModule) LibraryGetModule = nullptr;
  decltype(&cuModuleGetGlobal) ModuleGetGlobal = nullptr;
  void load();
  bool complete() const;
};

/// The containers of all loaded modules. Thread-safe. Its lock is not held across calls of the
/// driver.
class CapturedModules {
public:
  CapturedModules(const DriverApi &Driver) : Driver(Driver) { Api.load(); }

  /// The driver calls that note() must see.
  static constexpr Roles Calls = Role::LoadsImage | Role::LoadsFile;
  /// Takes a load call into account, at its exit.
  void note(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  /// Takes note of an image of \p Bytes bytes that the driver has loaded.
  void noteImage(const void *Data, size_t Bytes);

  /// The kernel of a launch, with everything that belongs to it.
  struct Kernel {
    CUfunction Function = nullptr; ///< The function of this context.
    std::shared_ptr<const LoadedContainer> Container;
    std::vector<VariablePlace> Variables;
    std::vector<ParameterPlace> Parameters;
  };
  /// Finds the kernel of \p Handle. Fails if the driver or the loaded containers do not tell all of
  /// it.
  Failure find(CUfunction Handle, Kernel &Found);

  CaptureApi Api;

private:
  std::shared_ptr<const LoadedContainer> containerOf(const void *Handle);
  void findVariables(CUlibrary Library, CUmodule Module, Kernel &Found);

  const DriverApi &Driver;
  std::mutex Lock;
  /// The containers by the handle of their module.
  std::map<const void *, std::shared_ptr<const LoadedContainer>> Containers;
  std::set<std::string> Names; ///< The names of the variables of all images.
};

} // namespace carve::probe
