/// \file
/// Helpers for tests that run a program: records of an H200, and a runner that plays a program
/// under the probe.
#pragma once

#include "Protocol/Protocol.h"
#include "Support/CommandRunner.h"
#include "Support/Files.h"
#include "Workload/ProbeRecords.h"
#include "unit/ResultTesting.h"

#include "gtest/gtest.h"

#include <functional>
#include <map>
#include <mutex>

namespace carve {

inline const std::string DevicesDir = CARVE_SOURCE_DIR "/share/carve-nvcc/devices";

/// The file \p Name of test/Inputs/ptx.
inline std::string recordedPtx(const std::string &Name) {
  return valueOf(readFile(CARVE_TEST_INPUTS "/ptx/" + Name));
}

/// The first lines of a probe file, which every process writes.
inline const std::string ProbeHead =
    "carve-probe\t1\t4711\t/usr/bin/app\n"
    "device\t0\tNVIDIA H200\tGPU-1\t9\t0\t132\t150000000000\t65536\t65536\t2048\t32\t233472\t"
    "232448\t49152\t1024\t13000\t580.159.03\t0\t0\t0\t0\n";

/// A `kernel` line: \p Launches launches of `grid 10,1,1` blocks of 256 threads.
inline std::string kernelLine(const std::string &Name, uint64_t TotalNs, uint64_t Launches = 1) {
  return "kernel\t" + Name + "\t10,1,1\t256,1,1\t1024\t64\t1,1,1\t0\t40\t8\t" +
         std::to_string(Launches) + "\t" + std::to_string(TotalNs) + "\t" +
         std::to_string(TotalNs / Launches) + "\t4096\n";
}

/// Runs no process, one run at a time. It gets the result from a function, and leaves records where
/// the probe would.
class ProbedProgram final : public CommandRunner {
public:
  struct Run {
    Command Asked;
    std::map<std::string, std::string> Env;
    std::map<std::string, std::string>
        Images; ///< Bytes of the images, by the container they replace.
  };
  /// Sets the result, and returns the text of the probe file. If it is empty, no file is written.
  std::function<std::string(const Run &, CommandResult &)> Program;
  std::vector<Run> Runs;

  llvm::Expected<CommandResult> run(const Command &C) override {
    std::lock_guard<std::mutex> Alone(Mutex);
    Run R{C, {}, {}};
    for (llvm::StringRef Variable : C.Environment)
      R.Env[Variable.split('=').first.str()] = Variable.split('=').second.str();
    if (auto List = R.Env.find(probe::ImagesVariable); List != R.Env.end())
      readImages(List->second, R);
    Runs.push_back(R);
    CommandResult Result;
    Result.WallS = 0.5;
    std::string Records = Program(R, Result);
    if (!Records.empty()) {
      std::string Path = R.Env[probe::DirVariable] + "/4711-1.probe";
      EXPECT_EQ(messageOf(writeFileAtomically(Path, Records)), "");
    }
    return Result;
  }

private:
  std::mutex Mutex; // Several GPUs make runs at once.

  static void readImages(const std::string &Path, Run &R) {
    std::string Text = valueOf(readFile(Path));
    for (llvm::StringRef Rest = Text; !Rest.empty();) {
      auto [Line, After] = Rest.split('\n');
      R.Images[Line.split('\t').first.str()] = valueOf(readFile(Line.split('\t').second));
      Rest = After;
    }
  }
};

/// Ten launches of \p Kernel with blocks of \p Threads threads.
inline KernelLaunches launches(const std::string &Kernel, unsigned Threads, uint64_t TotalNs) {
  KernelLaunches L;
  L.Kernel = Kernel;
  L.Shape.Grid = {1000, 1, 1};
  L.Shape.Block = {Threads, 1, 1};
  L.RegsPerThread = 40;
  L.Launches = 10;
  L.TotalNs = TotalNs;
  L.MinNs = TotalNs / 10;
  return L;
}

} // namespace carve
