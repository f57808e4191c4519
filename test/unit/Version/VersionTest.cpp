#include "Version/Version.h"

#include "gtest/gtest.h"

using namespace carve;

TEST(Version, text_ofACheckout_namesTheCommit) {
  std::string Text = versionText("carve", "0123456789ab-dirty");
  EXPECT_EQ(Text.find(std::string("carve ") + ProjectVersion + "\ncommit    0123456789ab-dirty\n"),
            0u);
  EXPECT_NE(Text.find("\nLLVM      "), std::string::npos);
  EXPECT_NE(Text.find("\ntoolkits  CUDA 13.0 to 13.5\n"), std::string::npos);
}

TEST(Version, text_ofNoCheckout_namesTheVersionAlone) {
  std::string Text = versionText("carve-nvcc", "");
  EXPECT_EQ(Text.find(std::string("carve-nvcc ") + ProjectVersion + "\nLLVM      "), 0u) << Text;
  EXPECT_EQ(Text.find("commit"), std::string::npos);
}
