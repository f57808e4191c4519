#include "Device/DeviceModel.h"

#include "Support/Files.h"
#include "unit/Device/HeaderOccupancy.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

using namespace carve;
using namespace carve::test;

namespace {

const std::string Shipped = CARVE_SOURCE_DIR "/share/carve-nvcc/devices";

std::string messageOf(llvm::Expected<DeviceModel> Model) {
  return Model ? "" : toString(Model.takeError());
}

TEST(DeviceModel, shippedFiles_holdTheGuidesNumbers) {
  for (const ArchLimits &L : archLimits()) {
    std::string Arch = "sm_" + std::to_string(L.Sm);
    auto Model = loadDeviceModel(Shipped, Arch);
    ASSERT_TRUE(bool(Model)) << toString(Model.takeError());
    EXPECT_EQ(Model->Arch, Arch);
    EXPECT_EQ(int(Model->Major * 10 + Model->Minor), L.Sm);
    EXPECT_EQ(Model->WarpSize, 32u);
    EXPECT_EQ(Model->MaxThreadsPerBlock, 1024u);
    EXPECT_EQ(int(Model->MaxThreadsPerSm), L.ThreadsPerSm) << Arch;
    EXPECT_EQ(int(Model->MaxBlocksPerSm), L.BlocksPerSm) << Arch;
    EXPECT_EQ(Model->RegsPerSm, 65536u);
    EXPECT_EQ(Model->RegsPerBlock, 65536u);
    EXPECT_EQ(int(Model->SmemPerSmBytes), L.SmemPerSm) << Arch;
    EXPECT_EQ(Model->SmemPerBlockBytes, 49152u);
    EXPECT_EQ(int(Model->SmemPerBlockOptinBytes), L.SmemOptin) << Arch;
    EXPECT_EQ(int(Model->ReservedSmemPerBlockBytes), L.SmemReserved) << Arch;
  }
}

// The header has limits of its own in its switches, so a file that disagrees with them is wrong.
TEST(DeviceModel, shippedFiles_agreeWithTheHeadersSwitches) {
  for (const std::string &Arch : knownArchitectures(Shipped)) {
    auto Model = loadDeviceModel(Shipped, Arch);
    ASSERT_TRUE(bool(Model)) << toString(Model.takeError());
    cudaOccDeviceProp P = headerProperties(limitsOf(int(Model->Major * 10 + Model->Minor)));
    int Blocks = 0;
    ASSERT_EQ(cudaOccMaxBlocksPerMultiprocessor(&Blocks, &P), CUDA_OCC_SUCCESS) << Arch;
    EXPECT_EQ(int(Model->MaxBlocksPerSm), Blocks) << Arch;
    size_t Smem = Model->SmemPerSmBytes;
    ASSERT_EQ(cudaOccAlignUpShmemSizeVoltaPlus(&Smem, &P), CUDA_OCC_SUCCESS) << Arch;
    EXPECT_EQ(Smem, Model->SmemPerSmBytes) << Arch;
    Smem += 1;
    EXPECT_NE(cudaOccAlignUpShmemSizeVoltaPlus(&Smem, &P), CUDA_OCC_SUCCESS) << Arch;
  }
}

TEST(DeviceModel, knownArchitectures_areInNumericalOrder) {
  std::vector<std::string> Expected = {"sm_75", "sm_80",  "sm_86",  "sm_87",  "sm_88",  "sm_89",
                                       "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"};
  EXPECT_EQ(knownArchitectures(Shipped), Expected);
  EXPECT_TRUE(knownArchitectures(Shipped + "/nowhere").empty());
}

TEST(DeviceModel, suffix_doesNotChangeTheLimits) {
  for (const char *Arch : {"sm_90a", "sm_100f", "sm_120a"}) {
    auto Model = loadDeviceModel(Shipped, Arch);
    ASSERT_TRUE(bool(Model)) << toString(Model.takeError());
    EXPECT_EQ(Model->Arch, llvm::StringRef(Arch).drop_back());
  }
}

TEST(DeviceModel, unknownArchitecture_failsWithTheKnownOnes) {
  for (const char *Arch : {"sm_60", "sm_91", "90", "compute_90", "sm_", "sm_9", "sm_90x", "sm_90af",
                           "sm_-90", "", "../devices/sm_90", "sm_99999999999"}) {
    std::string Message = messageOf(loadDeviceModel(Shipped, Arch));
    EXPECT_NE(Message.find("`" + std::string(Arch) + "`"), std::string::npos) << Arch;
    EXPECT_NE(Message.find("sm_75, sm_80"), std::string::npos) << Message;
  }
  EXPECT_NE(messageOf(loadDeviceModel("/nowhere", "sm_90")).find("no device files in /nowhere"),
            std::string::npos);
}

class DamagedDeviceFile : public testing::Test {
protected:
  void SetUp() override {
    auto Created = TempDir::create("device-model-test");
    ASSERT_TRUE(bool(Created));
    Dir.emplace(std::move(*Created));
    auto Text = readFile(Shipped + "/sm_90.json");
    ASSERT_TRUE(bool(Text));
    Good = *Text;
  }

  /// Returns the message of loading the file after \p From is replaced by \p To.
  std::string messageWith(const std::string &From, const std::string &To) {
    std::string Text = Good;
    size_t At = Text.find(From);
    EXPECT_NE(At, std::string::npos) << From;
    Text.replace(At, From.size(), To);
    EXPECT_FALSE(bool(writeFileAtomically(Dir->path() + "/sm_90.json", Text)));
    return messageOf(loadDeviceModel(Dir->path(), "sm_90"));
  }

  std::optional<TempDir> Dir;
  std::string Good;
};

TEST_F(DamagedDeviceFile, damagedFile_failsWithPathAndReason) {
  EXPECT_EQ(messageWith("{", "{"), "");
  EXPECT_NE(messageWith("\"warp_size\": 32,", "").find("`warp_size` is no integer"),
            std::string::npos);
  EXPECT_NE(messageWith("\"warp_size\": 32", "\"warp_size\": 0").find("`warp_size` is 0"),
            std::string::npos);
  EXPECT_NE(messageWith("2048", "-1").find("`max_threads_per_sm` is -1"), std::string::npos);
  EXPECT_NE(messageWith("2048", "\"2048\"").find("is no integer"), std::string::npos);
  EXPECT_NE(messageWith("warp_size", "wrap_size").find("unknown key `wrap_size`"),
            std::string::npos);
  EXPECT_NE(messageWith("sm_90", "sm_80").find("`arch` is `sm_80`, expected `sm_90`"),
            std::string::npos);
  EXPECT_NE(messageWith("9.0", "8.0").find("expected `9.0`"), std::string::npos);
  std::string Cut = messageWith("}", "");
  EXPECT_NE(Cut.find(Dir->path() + "/sm_90.json"), std::string::npos) << Cut;
  EXPECT_NE(messageWith(Good, "[]").find("expected a JSON object"), std::string::npos);
  EXPECT_NE(messageWith(Good, ""), "");
}

} // namespace
