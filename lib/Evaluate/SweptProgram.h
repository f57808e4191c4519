/// \file
/// The rows of a table of measurements as programs and kernels: what each setting takes of each
/// kernel, made comparable between runs, and the knobs that the table has of it.
#pragma once

#include "Device/DeviceModel.h"
#include "Evaluate/SweepTable.h"
#include "Search/KernelSearch.h"

#include "llvm/ADT/ArrayRef.h"

#include <map>

namespace carve {

/// One kernel in one setting.
struct SweptVariant {
  double TimeNs = 0; ///< Over all shapes, for as many launches as the default has.
  unsigned RegsPerThread = 0;
  SweepMetrics Metrics; ///< In the shape that takes most of its time.
};

struct SweptKernel {
  std::string Name;  ///< Mangled.
  LaunchShape Shape; ///< The one that takes most of the default's time.
  unsigned StaticSmemBytes = 0;
  /// What can be compared with the default, which is among them. Times are per launch of each
  /// shape, since runs can differ in launches. A setting that lacks shapes of more than 1 % of the
  /// default's time, or has no time for them, is none; what it lacks besides takes the default's.
  std::map<SweepSetting, SweptVariant> Variants;

  double defaultNs() const { return Variants.at({}).TimeNs; }
};

struct SweptProgram {
  std::string Name;
  std::vector<SweptKernel>
      Kernels; ///< In the order of the table; without a default time: not here.

  double defaultNs() const;
  /// Whether the kernel takes at least 1 % of the program's GPU time, as tuning asks of those that
  /// it looks at.
  bool isHot(const SweptKernel &K) const;
};

/// \p Rows by program, in the order of the table. Of rows for the same thing the fastest counts.
/// Programs of which no kernel has a default time are left out and named in \p LeftOut.
std::vector<SweptProgram> sweptPrograms(llvm::ArrayRef<SweepRow> Rows,
                                        std::vector<std::string> &LeftOut);

/// What the table offers of \p K to a search, and which of its rows answers to which setting.
struct SweptSpace {
  KnobSpace Space;
  std::map<VariantSetting, SweepSetting> Rows;
};

/// The register region is that of the rows without other knobs. A cap without a row is answered by
/// the row of the next cap above whose code fits into it: the same code, as far as registers tell.
SweptSpace sweptSpace(const SweptKernel &K, const DeviceModel &D);

/// The metrics that a table has of \p V: registers, occupancy (its own, else from registers and
/// shared memory), spills, and with efficiency also counts of instructions.
StaticMetrics sweptMetrics(const SweptKernel &K, const SweptVariant &V, const DeviceModel &D);

} // namespace carve
