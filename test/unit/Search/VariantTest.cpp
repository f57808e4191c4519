#include "Search/Variant.h"

#include "llvm/Support/Error.h"

#include <gtest/gtest.h>

using namespace carve;

TEST(VariantName, name_isReadBackAsTheSameSetting) {
  VariantSetting All{40, 255, true, LoadCaching::L2Only, 10};
  EXPECT_EQ(variantName(All), "r40-f255-smem-cg-l10");
  EXPECT_EQ(llvm::cantFail(parseVariantName("r40-f255-smem-cg-l10")), All);
  EXPECT_EQ(variantName({}), "default");
  EXPECT_TRUE(llvm::cantFail(parseVariantName("default")).isDefault());
  VariantSetting LevelOnly;
  LevelOnly.RegisterUsageLevel = 0;
  EXPECT_EQ(llvm::cantFail(parseVariantName(variantName(LevelOnly))), LevelOnly);
}

TEST(VariantName, malformedName_isRefused) {
  for (const char *Name : {"", "r", "x40", "f255-r40", "r40-", "r040", "r40-r48", "default-r40"}) {
    auto V = parseVariantName(Name);
    ASSERT_FALSE(V) << Name;
    EXPECT_NE(llvm::toString(V.takeError()).find(std::string("variant '") + Name),
              std::string::npos);
  }
}
