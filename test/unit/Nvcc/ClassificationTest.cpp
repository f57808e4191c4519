#include "Nvcc/Classification.h"

#include "NvccTesting.h"

using namespace carve;

namespace {

Classification classified(const Words &Argv) { return classify(Argv, {"", "", "/none"}); }

} // namespace

TEST(Classification, deviceSource_classified_isACompile) {
  Classification C = classified({"-c", "k.cu", "-o", "k.o"});
  ASSERT_TRUE(std::holds_alternative<CommandLine>(C));
  EXPECT_EQ(std::get<CommandLine>(C).Output, "k.o");
}

TEST(Classification, objects_classified_areALinkThatMayHaveNoDeviceCode) {
  Classification C = classified({"a.o", "b.o", "-o", "app"});
  ASSERT_TRUE(std::holds_alternative<DeviceCodeLink>(C));
  EXPECT_EQ(std::get<DeviceCodeLink>(C).Line.Files, (Words{"a.o", "b.o"}));
  EXPECT_EQ(std::get<DeviceCodeLink>(C).WithoutDeviceCode.Reason, "no-device-source");
}

TEST(Classification, deviceLink_classified_isALink) {
  Classification C = classified({"-dlink", "a.o", "-o", "linked.o"});
  ASSERT_TRUE(std::holds_alternative<DeviceCodeLink>(C));
  EXPECT_EQ(std::get<DeviceCodeLink>(C).WithoutDeviceCode.Reason, "device-link");
}

TEST(Classification, otherCommands_classified_arePassedThroughWithTheirReason) {
  const std::pair<Words, const char *> Cases[] = {
      {{"-c", "k.cu", "-dlto"}, "device-lto"},    // This compile is too hard.
      {{"-dlink", "-dlto", "a.o"}, "device-lto"}, // This link is too hard.
      {{"--version"}, "information"},             // This is neither.
      {{"-ptx", "k.cu"}, "device-image-output"},
      {{"-c", "host.cpp", "-o", "h.o"}, "no-device-source"},
      {{}, "no-input"},
  };
  for (const auto &[Argv, Reason] : Cases) {
    Classification C = classified(Argv);
    auto *P = std::get_if<Passthrough>(&C);
    EXPECT_EQ(P ? P->Reason : "none", Reason) << testing::PrintToString(Argv);
  }
}
