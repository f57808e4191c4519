#include "Command/Installation.h"

#include "Support/Files.h"
#include "Support/TempDir.h"

#include "gtest/gtest.h"

#include <filesystem>
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

TEST(Installation, ourOwnFiles_byTheLayout_areBesideTheProgram) {
  InstallTree T = findInstallTree("/opt/carve/bin/carve-nvcc", {"../lib", "../share"});
  EXPECT_EQ(T.Probe, "/opt/carve/lib/libcarve_probe.so");
  EXPECT_EQ(T.DevicesDir, "/opt/carve/share/carve-nvcc/devices");
  EXPECT_EQ(T.Launch, "/opt/carve/bin/carve-launch");
  EXPECT_EQ(T.JobTemplate, "/opt/carve/share/carve-nvcc/slurm/job.sh.in");
  T = findInstallTree("/usr/bin/carve", {"../lib/x86_64-linux-gnu", "/data/of/all"});
  EXPECT_EQ(T.Probe, "/usr/lib/x86_64-linux-gnu/libcarve_probe.so");
  EXPECT_EQ(T.DevicesDir, "/data/of/all/carve-nvcc/devices");
}

TEST(Installation, probe_thatIsOnlyInLib_isFoundThere) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-tree"));
  const std::string Program = Dir.path() + "/bin/carve",
                    Built = Dir.path() + "/lib/libcarve_probe.so",
                    Installed = Dir.path() + "/lib64/libcarve_probe.so";
  auto Probe = [&] { return findInstallTree(Program, {"../lib64", "../share"}).Probe; };
  EXPECT_EQ(Probe(), Installed);
  std::filesystem::create_directories(Dir.path() + "/lib");
  ASSERT_EQ(llvm::toString(writeFileAtomically(Built, "")), "");
  EXPECT_EQ(Probe(), Built);
  std::filesystem::create_directories(Dir.path() + "/lib64");
  ASSERT_EQ(llvm::toString(writeFileAtomically(Installed, "")), "");
  EXPECT_EQ(Probe(), Installed);
}

TEST(Installation, devicesHiddenByEnvironment_areNoGpu) {
  for (const char *Hidden : {"", "-1", "NoDevFiles"})
    EXPECT_FALSE(gpuPresent(environmentOf({{"CUDA_VISIBLE_DEVICES", Hidden}})));
}
