#include "Search/Variant.h"

#include "llvm/Support/Error.h"

#include <gtest/gtest.h>

using namespace carve;

TEST(VariantName, name_isReadBackAsTheSameSetting) {
  VariantSetting All{40,   255, FrontEndKnob::UnrollByTwo, true, LoadCaching::L2Only, 10, 1,
                     true, true};
  const char *Name = "r40-f255-unroll2-restrict-knownptx-smem-cg-l10-o1";
  EXPECT_EQ(variantName(All), Name);
  EXPECT_EQ(llvm::cantFail(parseVariantName(Name)), All);
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
    VariantSetting V{40, 255, {}, true, Loads, 10, {}};
    EXPECT_EQ(variantName(V), std::string("r40-f255-smem-") + Name + "-l10");
    EXPECT_EQ(llvm::cantFail(parseVariantName(variantName(V))), V);
  }
  EXPECT_EQ(loadCachingNamed(""), std::nullopt) << "loads as compiled have no name";
  EXPECT_EQ(loadCachingNamed("ca"), std::nullopt);
}

TEST(VariantName, eachFrontEndKnob_isReadBackAsTheSameSetting) {
  for (FrontEndKnob Knob : frontEndKnobs()) {
    VariantSetting Alone, Beside;
    Alone.FrontEnd = Knob;
    EXPECT_EQ(variantName(Alone), nameOf(Knob));
    EXPECT_EQ(llvm::cantFail(parseVariantName(variantName(Alone))), Alone);
    EXPECT_TRUE(Alone.needsComparedOutput());
    Beside = {40, 40, Knob, true, LoadCaching::NoAllocate, 0, {}};
    EXPECT_EQ(variantName(Beside), ("r40-f40-" + nameOf(Knob) + "-smem-noalloc-l0").str());
    EXPECT_EQ(llvm::cantFail(parseVariantName(variantName(Beside))), Beside);
  }
}

TEST(VariantName, constantsInThePtx_haveAName) {
  VariantSetting V{.Cap = 40, .FrontEnd = FrontEndKnob::KnownLaunch, .SmemSpilling = true};
  V.KnownPtx = true;
  EXPECT_EQ(variantName(V), "r40-known-knownptx-smem");
  EXPECT_EQ(llvm::cantFail(parseVariantName(variantName(V))), V);
  V = llvm::cantFail(parseVariantName("knownptx"));
  EXPECT_TRUE(V.KnownPtx && V.isForKnownLaunches() && V.needsComparedOutput());
  EXPECT_FALSE(VariantSetting{.FrontEnd = FrontEndKnob::UnrollMore}.isForKnownLaunches());
}

TEST(VariantName, restrictPointers_areForKnownLaunchesAndPartOfTheFlavour) {
  VariantSetting V = llvm::cantFail(parseVariantName("r40-f255-known-restrict"));
  EXPECT_TRUE(V.Restrict && V.frontEnd().Restrict);
  EXPECT_EQ(variantName(V), "r40-f255-known-restrict");
  V = llvm::cantFail(parseVariantName("restrict"));
  EXPECT_TRUE(V.isForKnownLaunches() && V.needsComparedOutput());
  EXPECT_EQ(nameOf(V.frontEnd()), "restrict");
  EXPECT_FALSE(V.mayStandFor({}));
  EXPECT_FALSE(V.mayStandFor({.FrontEnd = FrontEndKnob::KnownLaunch}));
  EXPECT_TRUE(VariantSetting{.FrontEnd = FrontEndKnob::KnownLaunch}.mayStandFor(V));
  V.setFrontEnd({});
  EXPECT_TRUE(V.isDefault());
}

TEST(VariantName, frontEnd_isThePartThatNamesTheFlavour) {
  VariantSetting V = llvm::cantFail(parseVariantName("r40-f255-noremat-smem"));
  FrontEndSetting Of255{255, FrontEndKnob::NoRematerialization};
  EXPECT_EQ(V.frontEnd(), Of255);
  V.setFrontEnd({});
  EXPECT_EQ(variantName(V), "r40-smem");
  EXPECT_FALSE(V.needsComparedOutput());
}

TEST(VariantName, assembler_isThePartThatPtxasIsTold) {
  VariantSetting V = llvm::cantFail(parseVariantName("r40-l10-o1"));
  EXPECT_EQ(V.assembler(), (AssemblerSetting{1, 10}));
  EXPECT_TRUE(V.needsComparedOutput()) << "at level 1 operations may be contracted differently";
  V.OptimizationLevel.reset();
  EXPECT_FALSE(V.needsComparedOutput());
  EXPECT_FALSE(V.assembler().isDefault());
  EXPECT_TRUE(llvm::cantFail(parseVariantName("r40-f255-smem-cg")).assembler().isDefault());
}

TEST(VariantName, malformedName_isRefused) {
  for (const char *Name : {"", "r", "x40", "f255-r40", "r40-", "r040", "r40-r48", "default-r40",
                           "cg-cs", "cs-smem", "noalloc2", "unroll-f255", "unroll3",
                           "unroll-unroll2", "smem-noremat", "smem-knownptx", "o1-l0", "o"}) {
    auto V = parseVariantName(Name);
    ASSERT_FALSE(V) << Name;
    EXPECT_NE(llvm::toString(V.takeError()).find(std::string("variant '") + Name),
              std::string::npos);
  }
}
