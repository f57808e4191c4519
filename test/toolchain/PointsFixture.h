/// \file
/// The real nvcc and one report for each list of words, which the tests of `carve points` share.
#pragma once

#include "Points/PointsPipeline.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

namespace carve::test {

inline const std::string PointsInputs = CARVE_TEST_INPUTS "/points/";
inline const std::string DevicesDir = CARVE_SOURCE_DIR "/share/carve-nvcc/devices";

class PointsFixture : public testing::Test {
protected:
  void SetUp() override {
    auto Found = findToolchain(
        [](llvm::StringRef Name) -> std::optional<std::string> {
          const char *Value = std::getenv(Name.str().c_str());
          return Value ? std::optional<std::string>(Value) : std::nullopt;
        },
        "");
    if (!Found)
      GTEST_SKIP() << "no nvcc: " << toString(Found.takeError());
    T = *Found;
    auto Created = TempDir::create("points-test");
    ASSERT_TRUE(bool(Created));
    Dir.emplace(std::move(*Created));
  }

  llvm::Expected<PointsReport> points(std::vector<std::string> Args) {
    auto Options = parsePointsOptions(Args);
    if (!Options)
      return Options.takeError();
    return findPoints(*Options, T, Runner, DevicesDir);
  }

  /// Several tests use the same compile, so one is made for each list of words.
  const PointsReport &pointsOrFail(const std::vector<std::string> &Args) {
    static std::map<std::vector<std::string>, PointsReport> Made;
    if (auto It = Made.find(Args); It != Made.end())
      return It->second;
    auto Report = points(Args);
    if (!Report) {
      ADD_FAILURE() << toString(Report.takeError());
      return Made.emplace(Args, PointsReport()).first->second;
    }
    return Made.emplace(Args, std::move(*Report)).first->second;
  }

  /// Returns the message of a UsageError. For anything else the test fails and the result is empty.
  std::string usageMessage(std::vector<std::string> Args) {
    auto Report = points(std::move(Args));
    if (Report) {
      ADD_FAILURE() << "succeeded";
      return "";
    }
    std::string Message;
    handleAllErrors(
        Report.takeError(), [&](const UsageError &E) { Message = toString(E); },
        [&](const llvm::ErrorInfoBase &E) { ADD_FAILURE() << E.message(); });
    return Message;
  }

  static std::string toString(const UsageError &E) { return E.message(); }
  static std::string toString(llvm::Error E) { return llvm::toString(std::move(E)); }

  /// Returns the path of the PTX that nvcc makes of \p File, in the temporary directory.
  std::string ptxOf(const std::string &File, const std::string &Arch) {
    Command C;
    C.Argv = {T.Nvcc,
              "-cubin",
              "-arch=" + Arch,
              "--keep",
              "--keep-dir",
              Dir->path(),
              "-o",
              Dir->path() + "/made.cubin",
              PointsInputs + File};
    llvm::cantFail(runChecked(Runner, std::move(C)).takeError());
    return Dir->path() + "/" + llvm::StringRef(File).drop_back(2).str() + "ptx";
  }

  Toolchain T;
  ProcessRunner Runner;
  std::optional<TempDir> Dir;
};

} // namespace carve::test
