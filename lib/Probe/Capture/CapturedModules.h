/// \file
/// What a captured launch needs of its kernel's module: the container as the program passed it, the
/// variables with their addresses, the parameters' places.
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
  std::string Copy; ///< Of bytes that the program may free: those that lie in no loaded file.
};

/// A part of the parameter buffer.
struct ParameterPlace {
  size_t Offset = 0, Bytes = 0;
};

struct VariablePlace {
  std::string Name;
  CUdeviceptr Base = 0;
  size_t Bytes = 0;
};

/// Functions of the driver that only captures need. Null where the driver has them not.
struct CaptureApi {
  decltype(&cuMemcpyDtoH) MemcpyDtoH = nullptr;
  decltype(&cuCtxGetLimit) CtxGetLimit = nullptr;
  decltype(&cuLibraryGetGlobal) LibraryGetGlobal = nullptr;
  decltype(&cuLibraryGetModule) LibraryGetModule = nullptr;
  decltype(&cuModuleGetGlobal) ModuleGetGlobal = nullptr;
  void load();
  bool complete() const;
};

/// Thread-safe. Its lock is not held across calls of the driver.
class CapturedModules {
public:
  CapturedModules(const DriverApi &Driver) : Driver(Driver) { Api.load(); }

  /// The driver calls that note() has to see.
  static constexpr Roles Calls = Role::LoadsImage | Role::LoadsFile;
  /// Takes a call that loads into account, at its exit.
  void note(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  /// An image that the driver has loaded.
  void noteImage(const void *Data, size_t Bytes);

  /// The kernel of a launch, with all that belongs to it.
  struct Kernel {
    CUfunction Function = nullptr; ///< Of this context.
    std::shared_ptr<const LoadedContainer> Container;
    std::vector<VariablePlace> Variables;
    std::vector<ParameterPlace> Parameters;
  };
  /// Fails where it cannot be told.
  Failure find(CUfunction Handle, Kernel &Found);

  CaptureApi Api;

private:
  std::shared_ptr<const LoadedContainer> containerOf(const void *Handle);
  void findVariables(CUlibrary Library, CUmodule Module, Kernel &Found);

  const DriverApi &Driver;
  std::mutex Lock;
  std::map<const void *, std::shared_ptr<const LoadedContainer>> Containers; ///< By handle.
  std::set<std::string> Names; ///< Of variables, over all images.
};

} // namespace carve::probe
