/// \file
/// Chooses the GPUs of `--gpus`, on which a tuning makes runs at once: what the user asks for, what
/// the machine has, and which of these would spoil the times because they are busy, of another kind
/// or slower than the others.
#pragma once

#include "Workload/TimedGpus.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace carve {

/// What `--gpus` asks for. If it is not given, it asks for nothing.
struct GpuRequest {
  bool All = false;
  std::vector<unsigned> Numbers; ///< Numbers among the GPUs that the program would see.

  bool given() const { return All || !Numbers.empty(); }
  /// Whether it may mean several GPUs.
  bool maySeveral() const { return All || Numbers.size() > 1; }
};

/// Stores \p Value, which is `all` or numbers with commas between them, in \p Out. Returns what was
/// expected if it is neither, or if a number is repeated; otherwise an empty text.
std::string setGpus(llvm::StringRef Value, GpuRequest &Out);

/// A GPU that the program would see.
struct HostGpu {
  unsigned Number = 0; ///< Its number among these, from 0.
  std::string Uuid, Name;
  int Major = 0, Minor = 0; ///< Of its compute capability.
  uint64_t MemoryBytes = 0;
  bool Mig = false; ///< Whether it is divided into instances (MIG).
  std::string Busy; ///< Who computes on it now; empty if nobody does.

  /// Its name for a person, such as `GPU 2`.
  std::string text() const { return "GPU " + std::to_string(Number); }
};

/// A GPU that was asked for and takes no part.
struct LeftGpu {
  std::string Gpu; ///< HostGpu::text().
  std::string Why;

  bool operator==(const LeftGpu &) const = default;
};

/// The GPUs that take part, by the order in which they were asked for, and the others.
struct ChosenGpus {
  std::vector<HostGpu> Used;
  std::vector<LeftGpu> Left;
};

/// The GPUs of \p Places that a program would see, with what the management library tells of them.
/// Fails if the library does not tell it, or if it is not certain which GPUs CUDA_VISIBLE_DEVICES
/// means.
llvm::Expected<std::vector<HostGpu>> hostGpus(const GpuPlaces &Places);

/// Chooses of \p Host what \p Request asks for. Leaves out GPUs that are busy or divided, and those
/// that differ from most of the others in name, compute capability or memory; with as many of two
/// kinds the one asked for first counts. Fails if there is no such GPU, or if none is left.
llvm::Expected<ChosenGpus> chooseGpus(llvm::ArrayRef<HostGpu> Host, const GpuRequest &Request);

/// A GPU whose kernels take more than this part of the median of the others' time is slow.
constexpr double SlowGpuRatio = 1.02;

/// The GPUs that are slow, each with its time over the median of the others', by place in \p Ns. \p
/// Ns has the time of the same launches on each GPU, or 0 if it is not known; such a GPU is never
/// slow.
std::vector<std::pair<size_t, double>> slowGpus(llvm::ArrayRef<double> Ns);

} // namespace carve
