#include "Probe/Replay/RotationParts.h"

#include <algorithm>
#include <numeric>

using namespace carve::probe;

std::vector<LaunchPart> carve::probe::rotationParts(const std::vector<RotatedKernel> &Kernels) {
  constexpr double LeastCycles = 12;
  std::vector<double> Needed;
  for (const RotatedKernel &Kernel : Kernels)
    Needed.push_back(LeastCycles * double(2 * Kernel.Variants + 1) /
                     double(std::max<uint64_t>(1, Kernel.Launches)));
  std::vector<size_t> Order(Kernels.size());
  std::iota(Order.begin(), Order.end(), 0);
  std::stable_sort(Order.begin(), Order.end(),
                   [&](size_t A, size_t B) { return Needed[A] < Needed[B]; });
  std::vector<size_t> Apart;
  double Sum = 0;
  for (size_t Kernel : Order) {
    if (Sum + Needed[Kernel] > 1)
      break;
    Sum += Needed[Kernel];
    Apart.push_back(Kernel);
  }
  std::vector<LaunchPart> Parts(Kernels.size());
  double Begin = 0;
  for (size_t Kernel : Apart) {
    double End = Begin + Needed[Kernel] + (1 - Sum) / double(Apart.size());
    Parts[Kernel] = {Begin, Kernel == Apart.back() ? 1 : End};
    Begin = End;
  }
  return Parts;
}
