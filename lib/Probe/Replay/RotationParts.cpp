#include "Probe/Replay/RotationParts.h"

#include <algorithm>
#include <numeric>

using namespace carve::probe;

static constexpr uint64_t Quarters = 4;

/// Returns how many quarters of \p Launches come before number \p Index.
static double quartersBefore(uint64_t Index, uint64_t Launches) {
  return double(Quarters * Index) / double(std::max<uint64_t>(1, Launches));
}

bool LaunchPart::holds(uint64_t Index, uint64_t Launches) const {
  const double Before = quartersBefore(Index, Launches), At = Before - double(uint64_t(Before));
  return At >= Begin && At < End;
}

uint64_t LaunchPart::left(uint64_t Index, uint64_t Launches) const {
  const double Before = quartersBefore(std::min(Index, Launches), Launches);
  const double At = Before - double(uint64_t(Before));
  const double Passed =
      double(uint64_t(Before)) * (End - Begin) + std::clamp(At - Begin, 0.0, End - Begin);
  return uint64_t((double(Quarters) * (End - Begin) - Passed) * double(Launches) /
                  double(Quarters));
}

std::vector<LaunchPart> carve::probe::rotationParts(const std::vector<RotatedKernel> &Kernels) {
  std::vector<double> Needed;
  for (const RotatedKernel &Kernel : Kernels)
    Needed.push_back(double(launchesForCycles(Kernel.Variants)) /
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
