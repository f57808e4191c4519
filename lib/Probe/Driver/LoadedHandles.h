/// \file
/// Keeps the driver's handles of the modules and libraries that a program has loaded. Code that
/// looks for the variables of all modules asks the driver with these handles.
#pragma once

#include "Probe/Driver/DriverCalls.h"

#include <mutex>
#include <set>
#include <vector>

namespace carve::probe {

/// The result of a load call: a CUlibrary or a CUmodule.
struct LoadedHandle {
  void *Handle = nullptr;
  /// The context of a module; null for a library, which belongs to every context.
  CUcontext Context = nullptr;

  CUmodule module() const { return static_cast<CUmodule>(Handle); }
  CUlibrary library() const { return static_cast<CUlibrary>(Handle); }
  auto operator<=>(const LoadedHandle &) const = default;
};

/// Returns what the call \p Id of the program has loaded, at the call's exit. The handle is null if
/// it is not a load call or has failed.
LoadedHandle loadedBy(CUpti_CallbackId Id, const CUpti_CallbackData &Call);

/// Returns what the call \p Id unloads, or null if it unloads nothing.
void *unloadedBy(CUpti_CallbackId Id, const CUpti_CallbackData &Call);

/// Returns the parameter of a load call that points to the image, in the driver's own copy of the
/// call's parameters. Writing it replaces the image. Returns null if \p Id does not load an image
/// from memory.
const void **imageParameter(CUpti_CallbackId Id, const void *Params);

/// Returns the path of the file that a load call reads, or null if \p Id reads no file.
const char *pathParameter(CUpti_CallbackId Id, const void *Params);

/// The handles that are loaded at the moment. Thread-safe.
class LoadedHandles {
public:
  /// The driver calls that note() must see, at entry and exit.
  static constexpr Roles Calls =
      Role::LoadsImage | Role::LoadsFile | Role::Unloads | Role::UsesLibrary;
  /// Takes note of a call. Returns whether it has added or removed a handle.
  bool note(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void contextDestroyed(CUcontext Context);

  /// Returns the modules of \p Context, and the libraries of which the program has asked for
  /// something. The driver may not have loaded any other library yet, and a question of the probe
  /// would make it do so.
  std::vector<LoadedHandle> of(CUcontext Context) const;

private:
  mutable std::mutex Lock;
  std::set<LoadedHandle> All;
  std::set<void *> Used; ///< The libraries of which the program has asked for something.
};

} // namespace carve::probe
