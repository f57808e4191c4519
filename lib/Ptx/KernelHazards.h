/// \file
/// Lists what a kernel does besides reading and writing the device memory that its program
/// allocated: the effects that another run of the kernel would repeat, and that restoring memory
/// does not undo. PtxModule::kernelHazards() reads them from the kernel's PTX, and ModeChoice
/// (lib/Tune) uses them to decide how the kernel is timed.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace carve {

/// What one kernel does, including the functions that it calls.
struct KernelHazards {
  bool Printf = false; ///< Prints, so that every run prints again.
  /// Uses `malloc`, `free` or `new`, whose memory the driver does not show.
  bool DeviceHeap = false;
  bool DeviceLaunch = false;    ///< Starts kernels or copies through the device runtime.
  bool SurfaceWrites = false;   ///< Writes arrays (`sust`, `sured`), which have no addresses.
  bool SystemScope = false;     ///< Orders memory with the host or with other GPUs (`.sys`).
  bool Multimem = false;        ///< Reduces over the memory of several GPUs.
  bool ManagedVariable = false; ///< Names a `__managed__` variable, which the host may access.
  bool Programmatic = false;    ///< Uses `griddepcontrol` to overlap with its neighbours.
  bool Asserts = false;         ///< May end the program by `assert`.
  /// A hint: the kernel has a loop that only reads one address until it changes. If the blocks of
  /// one kernel wait for each other like this, the kernel can run at any time; if it waits for
  /// another kernel or for the host, it cannot.
  bool SpinWait = false;
  /// Functions that are called but have no body in the module.
  std::vector<std::string> External;
  /// The `__constant__` variables that it names, and those whose addresses are in their initial
  /// values. They are no hazard, but may hold addresses that the kernel follows.
  std::set<std::string> Constants;

  bool operator==(const KernelHazards &) const = default;
};

} // namespace carve
