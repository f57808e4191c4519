#include "Command/Installation.h"

#include "gtest/gtest.h"

#include <map>

using namespace carve;
using Variables = std::map<std::string, std::string>;

/// An environment that contains \p Values and nothing else.
static auto environmentOf(const Variables &Values) {
  return [Values](llvm::StringRef Name) -> std::optional<std::string> {
    auto Found = Values.find(Name.str());
    return Found == Values.end() ? std::nullopt : std::optional(Found->second);
  };
}

TEST(Installation, pathOfTheProgram_givesOurOwnFilesBesideIt) {
  InstallTree T = findInstallTree("/opt/carve/bin/carve-nvcc");
  EXPECT_EQ(T.Probe, "/opt/carve/lib/libcarve_probe.so");
  EXPECT_EQ(T.DevicesDir, "/opt/carve/share/carve-nvcc/devices");
}

TEST(Installation, devicesHiddenByEnvironment_areNoGpu) {
  for (const char *Hidden : {"", "-1", "NoDevFiles"})
    EXPECT_FALSE(gpuPresent(environmentOf({{"CUDA_VISIBLE_DEVICES", Hidden}})));
}
