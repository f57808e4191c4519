/// \file
/// Gives tests the evidence on the programs in share/carve-nvcc/examples/limits. It is counted from
/// the PTX and the cubins that nvcc made from them.
#pragma once

#include "Explain/Limiters.h"
#include "Metrics/Counts/CodeCounts.h"
#include "Metrics/Counts/PtxCounts.h"

#include "Support/Files.h"

#include <gtest/gtest.h>

namespace carve {

/// Returns an H200 as its driver describes it.
inline DeviceBalance h200() {
  DeviceModel Model =
      llvm::cantFail(loadDeviceModel(CARVE_SOURCE_DIR "/share/carve-nvcc/devices", "sm_90"));
  return balanceOf(Model, {"NVIDIA H200", 132, 1980000, 3201000, 6144});
}

/// A program in which kernels follow each other closely.
inline ProgramFacts busyProgram() { return {1e9, 0.97e9, 400}; }

/// A launch of one of the programs.
struct ExampleLaunch {
  std::string Program, Kernel;
  unsigned Blocks = 0, Threads = 0;
  unsigned Regs = 32, StaticSmemBytes = 0;
  std::map<unsigned, double> Trips = {}; ///< The trip counts, by number of the loop in the PTX.
};

/// Returns the evidence on \p X, counted from its PTX and cubin. Its launch has no time yet.
inline KernelEvidence counted(const ExampleLaunch &X) {
  const std::string Stem = CARVE_TEST_INPUTS "/limits/" + X.Program;
  PtxModule M = llvm::cantFail(PtxModule::parse(llvm::cantFail(readFile(Stem + ".ptx"))));
  TripCounts Trips;
  Trips.ByNumber = X.Trips;
  CountedKernel Ptx = llvm::cantFail(countPtxKernel(M, X.Kernel, Trips, X.Threads));
  Trips.OfPtx = Ptx.Loops;
  CountedKernel Code =
      llvm::cantFail(countCodeKernel(llvm::cantFail(readFile(Stem + ".cubin")), X.Kernel, Trips));
  KernelEvidence E;
  E.Kernel = X.Kernel;
  E.Share = 1;
  E.Launches = 100;
  E.Shape.Grid = {X.Blocks, 1, 1};
  E.Shape.Block = {X.Threads, 1, 1};
  E.RegsPerThread = X.Regs;
  E.StaticSmemBytes = X.StaticSmemBytes;
  E.takeCounts(Ptx, Code, /*Counted=*/false);
  return E;
}

/// Gives \p E a time in which its busiest resource is busy for \p Share of it. Returns the name of
/// that resource.
inline std::string timeAt(KernelEvidence &E, double Share) {
  E.MeanNs = 1e9;
  std::vector<ResourceShare> Shares = derivedShares(E, h200());
  if (Shares.empty())
    return "";
  E.MeanNs = Shares.front().Share / Share * 1e9;
  return Shares.front().Resource;
}

} // namespace carve
