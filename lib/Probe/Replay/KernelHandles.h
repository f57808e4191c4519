/// \file
/// Finds the planned kernel for the handle of a launch, and its variants: clones in the same
/// module, which it prepares to run in place of the kernel.
#pragma once

#include "Probe/Driver/LaunchCall.h"
#include "Probe/Driver/Plan.h"
#include "Probe/Process/Failure.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace carve::probe {

/// A planned kernel of one module in one context, whose clones were found.
struct ResolvedKernel {
  const PlannedKernel *Planned = nullptr;
  CUfunction Handle = nullptr;   ///< The handle with which the program launches the kernel.
  CUfunction Function = nullptr; ///< The CUfunction of the kernel in this context.
  /// The handles by number of the variant; number 0 is Handle. Null if the module lacks the clone.
  std::vector<CUfunction> Variants;
  std::array<uint32_t, 3> Cluster{1, 1, 1}; ///< The cluster that the kernel's code demands.
  /// The size of each parameter in bytes, in order; nothing if the driver cannot tell the sizes.
  std::optional<std::vector<size_t>> ParameterBytes;

  /// Returns the launch's shape in the form that activity records have, undivided.
  LaunchShape shapeOf(const LaunchCall &Call) const;
  /// Returns \p Shape, which shapeOf() returned for \p Call, with the class of its arguments. They
  /// are read only if the plan divides the shape.
  LaunchShape inClass(const LaunchShape &Shape, const LaunchCall &Call) const;
  /// Returns whether \p Call has what \p Variant was compiled for, and no variant before it has its
  /// name and what it needs, too. If the arguments cannot be read, only variants that rely on no
  /// argument may run.
  bool mayRun(size_t Variant, const LaunchCall &Call) const;

private:
  bool holds(unsigned Guard, const LaunchCall &Call) const;
  /// Returns the address of the value of \p Bytes bytes at \p Offset of parameter number \p
  /// Parameter; null if the arguments of \p Call cannot be read or have no such value.
  const void *argumentAt(const LaunchCall &Call, unsigned Parameter, unsigned Offset,
                         unsigned Bytes) const;
  bool areApart(const PlannedKernel::Guard &Guard, const LaunchCall &Call) const;

  const DriverApi *Driver = nullptr;
  friend class KernelHandles;
  /// The state of the kernel's attributes that was copied to the clones.
  uint64_t SyncedAt = UINT64_MAX;
  std::map<size_t, std::string> Unset;
  std::map<std::pair<LaunchShape, size_t>, Failure> Refusals;
};

/// The planned kernels of a process. Thread-safe. Its lock is held across calls of the driver, so
/// it must not be taken in a thread to which CUPTI delivers records.
class KernelHandles {
public:
  KernelHandles(const DriverApi &Driver, const Plan &Wanted) : Driver(Driver), Wanted(Wanted) {}

  /// The driver calls that note() must see, at entry and exit.
  static constexpr Roles Calls = Role::Unloads | Role::SetsAttribute;
  /// Takes a call into account that unloads modules or changes attributes of kernels.
  void note(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  /// Forgets everything that was found; called when a context ends. It takes no lock, because the
  /// driver may hold one of its own at that moment, for which a thread in find() waits.
  void forget() { Stale = true; }

  /// Returns the planned kernel of \p Handle, after copying to its clones what the program has set
  /// for it. Returns null if the kernel is not planned or its module has no clone of it.
  std::shared_ptr<ResolvedKernel> find(CUfunction Handle, CUcontext Context);

  /// Fails if the driver would refuse to launch \p Variant as \p Call says.
  Failure refusal(ResolvedKernel &Kernel, size_t Variant, const LaunchCall &Call);

private:
  void dropStale();
  std::shared_ptr<ResolvedKernel> resolve(CUfunction Handle);
  bool resolveFunction(ResolvedKernel &Kernel);
  bool resolveKernel(ResolvedKernel &Kernel);
  void copyAttributes(ResolvedKernel &Kernel);
  void copyCacheConfig(const ResolvedKernel &Kernel) const;
  Failure askRefusal(const ResolvedKernel &Kernel, size_t Variant, const LaunchCall &Call) const;

  const DriverApi &Driver;
  const Plan &Wanted;
  std::atomic<bool> Stale{false};      ///< Set if the entries of Known may be gone.
  std::atomic<uint64_t> Attributes{0}; ///< The number of calls that have changed attributes.
  std::mutex Lock;
  std::map<std::pair<CUfunction, CUcontext>, std::shared_ptr<ResolvedKernel>> Known;
  /// The cache preferences that the program has set, which the driver does not return.
  std::map<CUfunction, CUfunc_cache> CacheConfigs;
};

} // namespace carve::probe
