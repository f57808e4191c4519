/// \file
/// The modules and libraries that a program has loaded, by the driver's handles: whoever wants a
/// variable of any of them asks the driver with these.
#pragma once

#include "Probe/Driver/DriverCalls.h"

#include <mutex>
#include <set>
#include <vector>

namespace carve::probe {

/// What a load call gave, a CUlibrary or a CUmodule.
struct LoadedHandle {
  void *Handle = nullptr;
  CUcontext Context = nullptr; ///< Of a module; a library is one of every context.

  CUmodule module() const { return static_cast<CUmodule>(Handle); }
  CUlibrary library() const { return static_cast<CUlibrary>(Handle); }
  auto operator<=>(const LoadedHandle &) const = default;
};

/// What the call \p Id of the program has loaded, at its exit; the handle is null where it is no
/// load call, or has failed.
LoadedHandle loadedBy(CUpti_CallbackId Id, const CUpti_CallbackData &Call);

/// What the call \p Id unloads; null where it is no such call.
void *unloadedBy(CUpti_CallbackId Id, const CUpti_CallbackData &Call);

/// The parameter of a load call that points to the image, in the driver's own copy of the call's
/// parameters: writing it is what replaces the image. Null where \p Id loads no image from memory.
const void **imageParameter(CUpti_CallbackId Id, const void *Params);

/// The file that a load call reads; null where \p Id loads none.
const char *pathParameter(CUpti_CallbackId Id, const void *Params);

/// Thread-safe.
class LoadedHandles {
public:
  /// The driver calls that note() has to see, at entry and exit.
  static constexpr Roles Calls =
      Role::LoadsImage | Role::LoadsFile | Role::Unloads | Role::UsesLibrary;
  /// Whether the call has added or taken away a handle.
  bool note(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void contextDestroyed(CUcontext Context);

  /// The modules of \p Context, and the libraries of which the program has asked for something. Of
  /// the others the driver may not have loaded anything yet, and would if it were asked.
  std::vector<LoadedHandle> of(CUcontext Context) const;

private:
  mutable std::mutex Lock;
  std::set<LoadedHandle> All;
  std::set<void *> Used; ///< Libraries.
};

} // namespace carve::probe
