/// \file
/// Groups the rows of a table of measurements by program and kernel, so that KernelSearch can be
/// run on them: what each setting takes of each kernel, comparable between runs, and which knobs
/// the table has of it.
#pragma once

#include "Device/DeviceModel.h"
#include "Evaluate/SweepTable.h"
#include "Search/KernelSearch.h"

#include "llvm/ADT/ArrayRef.h"

#include <map>

namespace carve {

/// The measurements of one kernel in one setting.
struct SweptVariant {
  double TimeNs = 0; ///< Sum over all shapes, for as many launches as the default has.
  unsigned RegsPerThread = 0;
  SweepMetrics Metrics; ///< For the shape that takes most of the default's time.
};

/// One kernel of the table.
struct SweptKernel {
  std::string Name;  ///< Mangled name.
  LaunchShape Shape; ///< The shape that takes most of the default's time.
  unsigned StaticSmemBytes = 0;
  double MeanNs = 0; ///< Of one launch of the default in that shape.
  /// The settings that can be compared with the default, which is among them. Times are computed
  /// from the time of one launch of each shape, since runs can differ in their launches. A setting
  /// is left out if it lacks times for shapes with more than 1 % of the default's time. Smaller
  /// shapes that it lacks count with the default's time.
  std::map<SweepSetting, SweptVariant> Variants;

  double defaultNs() const { return Variants.at({}).TimeNs; }
};

/// One program of the table.
struct SweptProgram {
  std::string Name;
  /// In the order of the table. Kernels without a time of the default are left out.
  std::vector<SweptKernel> Kernels;

  /// Returns the time of the default, summed over the kernels, in nanoseconds.
  double defaultNs() const;
  /// Returns true if the kernel takes at least 0.1 % of the program's GPU time, which is also
  /// what tuning requires of a kernel.
  bool isHot(const SweptKernel &K) const;
};

/// Returns \p Rows grouped by program, in the order of the table. If several rows have the same
/// kernel, shape and setting, the fastest counts. Programs without any kernel that has a time of
/// the default are left out, and their names are appended to \p LeftOut.
std::vector<SweptProgram> sweptPrograms(llvm::ArrayRef<SweepRow> Rows,
                                        std::vector<std::string> &LeftOut);

/// What the table offers of a kernel to a search, and which row answers to which setting.
struct SweptSpace {
  KnobSpace Space;
  std::map<VariantSetting, SweepSetting> Rows;
};

/// Returns the space of \p K. Its register region comes from the rows that set nothing but a cap.
/// If a cap has no row, the row of the next larger cap answers if its code fits into the cap: as
/// far as registers tell, the code is the same.
SweptSpace sweptSpace(const SweptKernel &K, const DeviceModel &D);

/// Returns the metrics that the table has of \p V: registers, occupancy (if the table lacks it,
/// computed from registers and shared memory), spills, and, if efficiency is known, counts of
/// instructions.
StaticMetrics sweptMetrics(const SweptKernel &K, const SweptVariant &V, const DeviceModel &D);

} // namespace carve
