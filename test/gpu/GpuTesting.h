/// \file
/// What the GPU tests share: the installed tree under test, the real nvcc, programs that are
/// compiled once, and runs with and without the probe.
#pragma once

#include "Report/JsonReport.h"
#include "Store/UnitStore.h"
#include "Support/Files.h"
#include "Tune/Job/TuningJob.h"
#include "Workload/Workload.h"

#include "gtest/gtest.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace carve::test {

using Words = std::vector<std::string>;

/// The architecture for which everything is compiled.
inline const std::string TestArch = "sm_90";

/// `EXPECT_EQ` for a value without which a test cannot go on: the value, or a failure and an empty
/// value.
template <typename T> T valueOf(llvm::Expected<T> Value) {
  if (Value)
    return std::move(*Value);
  ADD_FAILURE() << llvm::toString(Value.takeError());
  return T();
}

/// The machine on which the tests run.
struct Machine {
  std::string Prefix;  ///< The tree with bin, lib and share: `CARVE_TEST_PREFIX`, or the build's.
  std::string Sources; ///< The directory of these tests: `CARVE_TEST_SOURCE`, or the checkout's.
  Toolchain T;
  ProbeSetup Probe;
  std::string Missing; ///< Why no test can run; empty if everything is there.

  std::string devicesDir() const { return Prefix + "/share/carve-nvcc/devices"; }
  std::string examplesDir() const { return Prefix + "/share/carve-nvcc/examples"; }
  std::string tool(const std::string &Name) const { return Prefix + "/bin/" + Name; }
};
const Machine &machine();

/// The directory for everything that the tests make; it is removed when the tests end.
const std::string &workDir();

/// Runs \p Argv in workDir() and captures its streams. \p Environment is added to a clean
/// environment: no NVCC_*_FLAGS, no CARVE_*, no probe. After \p TimeoutS seconds the process is
/// killed; 0 means never.
CommandResult run(Words Argv, Words Environment = {}, double TimeoutS = 0);

/// Returns the program or image \p Name of the table in GpuTesting.cpp. The first call compiles all
/// of them in parallel.
std::string program(const std::string &Name);

/// A store of its own and the commands that use it.
class Project {
public:
  explicit Project(const std::string &Name);

  std::string path(const std::string &Name) const { return Dir + "/" + Name; }
  /// Runs `carve-nvcc` with \p Arguments. \p Run is the value of CARVE_RUN: `none` unless the build
  /// is to tune.
  CommandResult compile(Words Arguments, const std::string &Run = "none");
  /// Runs `carve` with \p Arguments.
  CommandResult carve(Words Arguments);
  UnitStore store() const { return UnitStore(path("store")); }
  /// Returns the report of the last tuning.
  TuningReport report() const;
  /// Returns what the last command with a log wrote. Every command starts with an empty log.
  std::string log() const;

private:
  CommandResult inProject(Words Argv, const std::string &Run);
  std::string Dir;
};

/// Runs \p Argv under the probe. Fails the test if that is impossible.
RunRecord runProbed(Words Argv, const ImageMap &Images = {},
                    const probe::TimeStretch &Stretch = {});

/// Returns the launches by kernel, named as in the source without parameters: `scale`.
std::map<std::string, uint64_t> launchesByName(const ProbeRecord &Record);

/// Returns the registers with which \p Kernel (mangled) ran. Fails the test if there is none or
/// more than one number.
unsigned registersOf(const ProbeRecord &Record, const std::string &Kernel);

/// Skips with the reason if something is missing; fails instead with CARVE_REQUIRE_GPU=1.
class GpuTest : public testing::Test {
protected:
  void SetUp() override;
};

} // namespace carve::test
