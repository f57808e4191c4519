/// \file
/// From the handle of a launch to the planned kernel and its variants in the same module: clones
/// found beside the kernel that the program launches, made ready to take its place.
#pragma once

#include "Probe/Driver/LaunchCall.h"
#include "Probe/Driver/Plan.h"
#include "Probe/Process/Failure.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace carve::probe {

/// A planned kernel of one module in one context. Its clones were found.
struct ResolvedKernel {
  const PlannedKernel *Planned = nullptr;
  CUfunction Handle = nullptr;              ///< As the program launches it.
  CUfunction Function = nullptr;            ///< The same as CUfunction of this context.
  std::vector<CUfunction> Variants;         ///< By variant; 0 is Handle. Null where there is none.
  std::array<uint32_t, 3> Cluster{1, 1, 1}; ///< That the kernel itself demands.
  /// Bytes of each parameter, in order; without Known the driver cannot say.
  std::vector<size_t> ParameterBytes;
  bool ParametersKnown = false;

  /// The launch's shape as activity records have it.
  LaunchShape shapeOf(const LaunchCall &Call) const;

private:
  friend class KernelHandles;
  uint64_t SyncedAt = UINT64_MAX; ///< The state of attributes that the clones have.
  std::map<size_t, std::string> Unset;
  std::map<std::pair<LaunchShape, size_t>, Failure> Refusals;
};

/// Thread-safe. Its lock is held across calls of the driver, so it must not be taken where CUPTI
/// delivers records.
class KernelHandles {
public:
  KernelHandles(const DriverApi &Driver, const Plan &Wanted) : Driver(Driver), Wanted(Wanted) {}

  /// The driver calls that note() has to see, at entry and exit.
  static constexpr Roles Calls = Role::Unloads | Role::SetsAttribute;
  /// Takes a call into account that unloads modules or changes kernels' attributes.
  void note(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  /// Everything that was found may be gone: a context ends. Takes no lock, as the driver may hold
  /// one of its own at that moment, for which a thread in find() waits.
  void forget() { Stale = true; }

  /// The planned kernel behind \p Handle, with what the program set for it copied to its clones.
  /// Null where it is not planned, or its module has no clone of it.
  std::shared_ptr<ResolvedKernel> find(CUfunction Handle, CUcontext Context);

  /// Fails if the driver would not launch \p Variant as \p Call says.
  Failure refusal(ResolvedKernel &Kernel, size_t Variant, const LaunchCall &Call);

private:
  void dropStale();
  std::shared_ptr<ResolvedKernel> resolve(CUfunction Handle);
  bool resolveFunction(ResolvedKernel &Kernel);
  bool resolveKernel(ResolvedKernel &Kernel);
  void readParameters(ResolvedKernel &Kernel) const;
  void copyAttributes(ResolvedKernel &Kernel);
  void copyCacheConfig(const ResolvedKernel &Kernel) const;
  Failure askRefusal(const ResolvedKernel &Kernel, size_t Variant, const LaunchCall &Call) const;

  const DriverApi &Driver;
  const Plan &Wanted;
  std::atomic<bool> Stale{false};      ///< What is known may be gone.
  std::atomic<uint64_t> Attributes{0}; ///< Counts the calls that change them.
  std::mutex Lock;
  std::map<std::pair<CUfunction, CUcontext>, std::shared_ptr<ResolvedKernel>> Known;
  std::map<CUfunction, CUfunc_cache> CacheConfigs; ///< The driver does not tell them.
};

/// The runtime passes a CUkernel where the driver's signature says CUfunction; cuFuncGetName takes
/// both, older drivers' does not. Null where neither knows it.
const char *kernelName(const DriverApi &Driver, const void *Handle);

} // namespace carve::probe
