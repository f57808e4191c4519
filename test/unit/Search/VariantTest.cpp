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

TEST(VariantName, eachLoadCaching_hasANameOfItsOwn) {
  for (auto [Loads, Name] : {std::pair(LoadCaching::L2Only, "cg"),
                             {LoadCaching::EvictFirst, "cs"},
                             {LoadCaching::NoAllocate, "noalloc"}}) {
    EXPECT_EQ(nameOf(Loads), Name);
    EXPECT_EQ(loadCachingNamed(Name), Loads);
    VariantSetting V{40, 255, true, Loads, 10};
    EXPECT_EQ(variantName(V), std::string("r40-f255-smem-") + Name + "-l10");
    EXPECT_EQ(llvm::cantFail(parseVariantName(variantName(V))), V);
  }
  EXPECT_EQ(loadCachingNamed(""), std::nullopt) << "loads as compiled have no name";
  EXPECT_EQ(loadCachingNamed("ca"), std::nullopt);
}

TEST(VariantName, malformedName_isRefused) {
  for (const char *Name : {"", "r", "x40", "f255-r40", "r40-", "r040", "r40-r48", "default-r40",
                           "cg-cs", "cs-smem", "noalloc2"}) {
    auto V = parseVariantName(Name);
    ASSERT_FALSE(V) << Name;
    EXPECT_NE(llvm::toString(V.takeError()).find(std::string("variant '") + Name),
              std::string::npos);
  }
}
