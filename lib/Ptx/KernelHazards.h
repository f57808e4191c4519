/// \file
/// What a kernel does beside reading and writing the device memory that its program allocated: the
/// effects that running it once more would repeat, and that saving memory does not undo. Read from
/// its PTX by PtxModule::kernelHazards(); ModeChoice (lib/Tune) decides by it how it is timed.
#pragma once

#include <string>
#include <vector>

namespace carve {

struct KernelHazards {
  bool Printf = false;          ///< Every run prints.
  bool DeviceHeap = false;      ///< `malloc`, `free`, `new`: memory that the driver does not show.
  bool DeviceLaunch = false;    ///< Starts kernels or copies by the device runtime.
  bool SurfaceWrites = false;   ///< Writes arrays (`sust`, `sured`), which have no addresses.
  bool SystemScope = false;     ///< Orders memory with the host or with other GPUs (`.sys`).
  bool Multimem = false;        ///< Reduces over several GPUs' memory.
  bool ManagedVariable = false; ///< Names a `__managed__` variable, which the host may touch.
  bool Programmatic = false;    ///< `griddepcontrol`: made to overlap with its neighbours.
  bool Asserts = false;         ///< May end the program by `assert`.
  /// A hint: a loop that does nothing but read one address until it changes. Blocks of one kernel
  /// wait for each other so, which is sound at any time; waiting for another kernel or the host is
  /// not.
  bool SpinWait = false;
  std::vector<std::string> External; ///< Functions of which only the name is known.

  bool operator==(const KernelHazards &) const = default;
};

} // namespace carve
