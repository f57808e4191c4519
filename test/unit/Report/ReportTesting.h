/// \file
/// Makes the reports that the tests of lib/Report print.
#pragma once

#include "Tune/Outcome/TuningReport.h"

namespace carve {

inline KernelReport reportedKernel(std::string Name, double Share) {
  KernelReport K;
  K.Kernel = std::move(Name);
  K.Mangled = "_Z1k";
  K.Output = "app";
  K.Share = Share;
  K.Launches = 1000;
  K.RegsBefore = K.RegsAfter = 40;
  K.OccupancyBefore = K.OccupancyAfter = 0.75;
  K.Variant = "default";
  K.Shapes = {"grid 512x204x1 block 32x1x1 dynamic-smem 0"};
  return K;
}

inline KernelReport tunedKernel() {
  KernelReport K = reportedKernel("CalcFBHourglassForce(double*, double const*, int)", 0.62);
  K.RegsAfter = 168;
  K.OccupancyAfter = 0.1875;
  K.SpillBefore = 312;
  K.Tuned = true;
  K.Variant = "r168";
  K.Ratio = {0.75, 0.74, 0.76};
  K.Pairs = 9;
  K.InRun.Mode = "replay";
  K.InRun.Reason = "932 launches of 410 us";
  K.InRun.Verified = "bitwise";
  K.InRun.Rounds = 7;
  K.InRun.Ratio = {0.76, 0.758, 0.763};
  K.InRun.ControlDistance = 0.001;
  K.InRun.ColdNs = 430000;
  K.InRun.WarmNs = 400000;
  K.InRun.WarmWeight = 0.67;
  K.Variants = {{"r32", 32, 640, 1, 1.4, "", 0, 0, ""},
                {"r168", 168, 0, 0.1875, 0.75, "", 0, 0, ""},
                {"r64", 64, 0, 0.5, 0, "exit status 139 instead of 0", 0, 0, ""}};
  K.Dropped = {"r255: largest block would shrink"};
  return K;
}

/// Returns a report on one kernel that is tuned, one that is refuted, one that is not ours, and two
/// small ones.
inline TuningReport sampleReport() {
  TuningReport R;
  R.Date = "2026-11-20T12:00:00Z";
  R.Workload = "./lulesh -s 90";
  R.Device = "NVIDIA H200";
  R.Driver = "580.159.03";
  R.NvccVersion = "13.0.88";
  R.Scope = "kernel";
  R.Domain = "preserve";
  R.Runs = 42;
  R.RunsBeforeConfirmation = 2;
  R.WallS = 63.25;
  R.PlainWallS = 1.5;
  R.VariantsTimed = 71;
  R.Program = {0.9, 0.89, 0.905};
  R.ProgramWall = {0.97, 0.95, 1.01};
  R.ProgramSpan = {0.92, 0.91, 0.94};
  R.Pairs = 9;
  R.PairsMade = 13;
  R.Ended = "decided";
  KernelReport Refuted = reportedKernel("gather(float*)", 0.25);
  Refuted.Reason =
      StayReason("not confirmed: 0.995 of the default's time, upper end 1.002, needed below 0.990");
  Refuted.InRun.Mode = "fixed";
  Refuted.InRun.Reason = "its grid is sized by occupancy";
  KernelReport Foreign = reportedKernel("cub::scan(int*)", 0.11);
  Foreign.OccupancyBefore = Foreign.OccupancyAfter = 0;
  Foreign.Reason = KnownReason::InNoUnit;
  KernelReport Small = reportedKernel("init()", 0.006);
  Small.Reason = KnownReason::BelowShare;
  R.Kernels = {tunedKernel(), Refuted, Foreign, Small, Small};
  return R;
}

} // namespace carve
