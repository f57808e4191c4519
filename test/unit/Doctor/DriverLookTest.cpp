#include "Doctor/DriverLook.h"

#include "Support/Files.h"

#include "gtest/gtest.h"

#include <filesystem>

using namespace carve;

namespace {

class DriverLookTest : public testing::Test {
protected:
  void write(const std::string &Name, const std::string &Text) {
    EXPECT_EQ(llvm::toString(writeFileAtomically(Dir.path() + "/" + Name, Text)), "");
  }
  SeenDriver look() {
    auto Nothing = [](llvm::StringRef) -> std::optional<std::string> { return std::nullopt; };
    return lookAtDriver(Nothing, Dir.path(),
                        {Dir.path(), Dir.path() + "/status", Dir.path() + "/libcuda.so.1"});
  }
  TempDir Dir = llvm::cantFail(TempDir::create("carve-driver-look"));
};

} // namespace

TEST_F(DriverLookTest, driver_filesOfTheKernelModule_areRead) {
  write("version", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release "
                   "Build  (dvs)\nGCC version:  gcc version 12.2.0\n");
  write("params", "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\nRmLogonRC: 1\n");
  write("status", "Name:\tcarve\nCapEff:\t0000000000200000\n");
  SeenDriver Seen = look();
  EXPECT_EQ(Seen.Version, "580.65.06");
  EXPECT_EQ(Seen.CountersRestricted, true);
  EXPECT_TRUE(Seen.IsAdministrator);
  write("params", "RmProfilingAdminOnly: 0\n");
  write("status", "CapEff:\t00000000001fffff\n");
  Seen = look();
  EXPECT_EQ(Seen.CountersRestricted, false);
  EXPECT_FALSE(Seen.IsAdministrator);
}

TEST_F(DriverLookTest, driver_missing_isSaidAndNothingIsKnown) {
  SeenDriver Seen = look();
  EXPECT_NE(Seen.Failure.find("libcuda.so.1"), std::string::npos) << Seen.Failure;
  EXPECT_EQ(Seen.Version, "");
  EXPECT_EQ(Seen.CountersRestricted, std::nullopt);
  EXPECT_TRUE(Seen.Gpus.empty());
}

TEST_F(DriverLookTest, cupti_damagedOrMissing_isSaid) {
  EXPECT_EQ(lookAtCupti(Dir.path() + "/bin").Path, "");
  std::filesystem::create_directories(Dir.path() + "/bin");
  std::filesystem::create_directories(Dir.path() + "/lib64");
  write("lib64/libcupti.so.13", "text");
  SeenCupti Seen = lookAtCupti(Dir.path() + "/bin");
  EXPECT_NE(Seen.Path, "");
  EXPECT_NE(Seen.Failure, "");
}
