/// \file
/// What the GPU tests share: the installed tree under test, the real nvcc, programs compiled once,
/// and runs with and without the probe.
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

/// The architecture that everything is compiled for.
inline const std::string TestArch = "sm_90";

/// `EXPECT_EQ` for what a test cannot go on without: the value, or a failure and an empty one.
template <typename T> T valueOf(llvm::Expected<T> Value) {
  if (Value)
    return std::move(*Value);
  ADD_FAILURE() << llvm::toString(Value.takeError());
  return T();
}

/// Where the tests run.
struct Machine {
  std::string Prefix;  ///< Tree with bin, lib and share: `CARVE_TEST_PREFIX`, else the build's.
  std::string Sources; ///< Directory of these tests: `CARVE_TEST_SOURCE`, else the checkout's.
  Toolchain T;
  ProbeSetup Probe;
  std::string Missing; ///< Why no test can run; empty where all is there.

  std::string devicesDir() const { return Prefix + "/share/carve-nvcc/devices"; }
  std::string examplesDir() const { return Prefix + "/share/carve-nvcc/examples"; }
  std::string tool(const std::string &Name) const { return Prefix + "/bin/" + Name; }
};
const Machine &machine();

/// Directory for everything that is made; removed when the tests end.
const std::string &workDir();

/// Runs \p Argv in workDir() with streams captured and \p Environment added to a clean one: no
/// NVCC_*_FLAGS, no CARVE_*, no probe.
CommandResult run(Words Argv, Words Environment = {});

/// The program or image \p Name of the table in GpuTesting.cpp. The first call compiles them all,
/// side by side.
std::string program(const std::string &Name);

/// A store of its own and the commands that use it.
class Project {
public:
  explicit Project(const std::string &Name);

  std::string path(const std::string &Name) const { return Dir + "/" + Name; }
  /// Runs `carve-nvcc` with \p Arguments; \p Run as CARVE_RUN, `none` unless it is to tune.
  CommandResult compile(Words Arguments, const std::string &Run = "none");
  /// Runs `carve` with \p Arguments.
  CommandResult carve(Words Arguments);
  UnitStore store() const { return UnitStore(path("store")); }
  /// The report of the last tuning.
  TuningReport report() const;
  /// What the last command with a log wrote; every command starts an empty one.
  std::string log() const;

private:
  CommandResult inProject(Words Argv, const std::string &Run);
  std::string Dir;
};

/// Runs \p Argv under the probe; a failure of the test where that cannot be done.
RunRecord runProbed(Words Argv, const ImageMap &Images = {}, uint64_t LaunchDelayNs = 0);

/// Launches by kernel, named as in the source, without parameters: `scale`.
std::map<std::string, uint64_t> launchesByName(const ProbeRecord &Record);

/// Registers that \p Kernel (mangled) ran with; a failure of the test where several counts were
/// seen or none.
unsigned registersOf(const ProbeRecord &Record, const std::string &Kernel);

/// Skips, with the reason printed, where something is missing; fails with CARVE_REQUIRE_GPU=1.
class GpuTest : public testing::Test {
protected:
  void SetUp() override;
};

} // namespace carve::test
