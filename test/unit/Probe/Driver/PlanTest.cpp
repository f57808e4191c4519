#include "Probe/Driver/Plan.h"

#include "Support/Files.h"

#include "llvm/Support/Error.h"

#include <gtest/gtest.h>

using namespace carve;
using namespace carve::probe;

static bool read(Plan &P, const std::string &Text) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-plan-test"));
  std::string File = Dir.path() + "/plan";
  llvm::cantFail(writeFileAtomically(File, Text));
  return P.read(File.c_str());
}

static std::vector<std::string> namesOf(const PlannedKernel &K) {
  std::vector<std::string> Names;
  for (const PlannedKernel::Variant &V : K.Variants)
    Names.push_back(V.Name + " " + V.Clone);
  return Names;
}

TEST(Plan, read_planOfTheTuner_givesItsKernels) {
  Plan P;
  ASSERT_TRUE(read(P, "carve-plan\t1\nseed\t9\nreplay-ms\t500\nhang-ms\t20\n"
                      "shape\tk\t1,2,3\t4,5,6\t7\t1,1,1\t12\t1500\n"
                      "exclude\tk\tr40\nvariant\tk\tr40\tk__b\t0\nvariant\tk\tcontrol\tk__a\t0\n"
                      "kernel\tk\tverify-rotate\tnone\n"
                      "compare\tk\tr40\nkernel\tl\trotate\trotate\nmeasure\tm\tmemory-only\n"
                      "kernel\tm\treplay\tnone\nvariant\tm\tcontrol\tm__control\t0\n"
                      "variant\tm\tmemory-only\tm__memory\t0\n"));
  EXPECT_EQ(P.Seed, 9u);
  EXPECT_EQ(P.ReplayMs, 500u);
  EXPECT_EQ(P.HangMs, 20u);
  const PlannedKernel *K = P.find("k");
  ASSERT_TRUE(K);
  EXPECT_EQ(K->Mode, TimingMode::VerifyRotate);
  EXPECT_FALSE(K->MayRotate);
  EXPECT_EQ(namesOf(*K), (std::vector<std::string>{"default k", "control k__a", "r40 k__b"}));
  EXPECT_EQ(K->Excluded, (std::set<size_t>{2}));
  const PlannedShape *S = K->find({{1, 2, 3}, {4, 5, 6}, 7, {1, 1, 1}});
  ASSERT_TRUE(S);
  EXPECT_EQ(S->Launches, 12u);
  EXPECT_EQ(S->MeanNs, 1500u);
  EXPECT_EQ(S->firstReplayed(), 0u);
  EXPECT_EQ(S->secondReplayed(), 6u);
  EXPECT_FALSE(K->find({{1, 2, 3}, {4, 5, 6}, 8, {1, 1, 1}}));
  EXPECT_TRUE(K->Measured.empty());
  EXPECT_EQ(K->ToCompare, (std::set<size_t>{2}));
  ASSERT_TRUE(P.find("l"));
  EXPECT_TRUE(P.find("l")->MayRotate);
  EXPECT_EQ(namesOf(*P.find("l")), (std::vector<std::string>{"default l"}));
  ASSERT_TRUE(P.find("m"));
  EXPECT_EQ(P.find("m")->Measured, (std::set<size_t>{2}));
  EXPECT_TRUE(P.find("m")->ToCompare.empty());
  EXPECT_FALSE(P.find("n"));
}

TEST(Plan, kernelWithMeasuredVariants_mayNotRotate) {
  for (auto [Mode, IsSound] : {std::pair{"replay\tnone", true},
                               {"rotate\tnone", false},
                               {"verify-rotate\tnone", false},
                               {"replay\trotate", false}}) {
    Plan P;
    EXPECT_EQ(
        read(P, std::string("carve-plan\t1\nkernel\tk\t") + Mode +
                    "\nvariant\tk\tcontrol\tk__a\t0\nvariant\tk\tr40\tk__b\t0\nmeasure\tk\tr40\n"),
        IsSound)
        << Mode;
  }
}

TEST(Plan, variantsWithoutNames_areRefused) {
  const std::string Kernel = "carve-plan\t1\nkernel\tk\treplay\tnone\n";
  const std::string Control = "variant\tk\tcontrol\tk__a\t0\n",
                    Other = "variant\tk\tr40\tk__b\t0\n";
  Plan Sound;
  EXPECT_TRUE(read(Sound, Kernel + Control + Other + "exclude\tk\tr40\n"));
  for (const std::string &Lines : std::vector<std::string>{
           Other, Control + Control, Control + Other + Other,
           Control + "variant\tk\tdefault\tk__b\t0\n", Control + "exclude\tk\tr40\n",
           Control + "measure\tk\t2\n", Control + "compare\tk\tr40\n", "exclude\tk\tcontrol\n",
           Control + Other + "exclude\tj\tr40\n"}) {
    Plan P;
    EXPECT_FALSE(read(P, Kernel + Lines)) << Lines;
  }
}

TEST(Plan, planWithAnUnknownLine_isRefused) {
  for (const char *Text :
       {"", "carve-plan\t2\n", "carve-plan\t1\nwhat\t1\n", "carve-plan\t1\nseed\tx\n",
        "carve-plan\t1\nkernel\tk\treplay\n", "carve-plan\t1\nkernel\tk\tsometimes\tnone\n",
        "carve-plan\t1\nkernel\tk\tfixed\tnone\n", "carve-plan\t1\nkernel\tk\treplay\tnone\tk__a\n",
        "carve-plan\t1\nvariant\tk\tcontrol\ta\t0\n",
        "carve-plan\t1\nshape\tk\t1,1,1\t1,1,1\t0\t1,1,1\t1\t5\n",
        "carve-plan\t1\nkernel\tk\treplay\tnone\nshape\tk\t1,1\t1,1,1\t0\t1,1,1\t1\t5\n",
        "carve-plan\t1\nkernel\tk\treplay\tnone\nshape\tk\t1,1,1\t1,1,1\t0\t1,1,1\t1\t5.\n",
        "carve-plan\t1\nkernel\tk\treplay\tnone\nshape\tk\t1,1,1\t1,1,1\t0\t1,1,1\t1\t5x\n",
        "carve-plan\t1\nkernel\tk\treplay\tnone\nshape\tk\t1,1,1\t1,1,1\t0\t1,1,1\t1\t.5.1\n",
        "carve-plan\t1\nkernel\tk\treplay\tnone\nreplay\tk\t1,1,1\t1,1,1\t0\t1,1,1\t1\t2\n"}) {
    Plan P;
    EXPECT_FALSE(read(P, Text)) << Text;
  }
  EXPECT_FALSE(Plan().read("/dev/null/nonexistent"));
}

TEST(Plan, guardedVariants_haveGuardsOfTheirKernel) {
  Plan P;
  ASSERT_TRUE(read(P, "carve-plan\t1\nguard\tk\t1\t2\t4\t4096\t8\nguard\tl\t1\t0\t1\t1\t0\n"
                      "variant\tk\tknown\tk__b\t1\nvariant\tk\tcontrol\tk__a\t0\n"
                      "kernel\tk\treplay\tnone\nguard\tk\t1\t3\t8\t18446744073709551615\t0\n"
                      "kernel\tl\treplay\tnone\n"));
  const PlannedKernel *K = P.find("k");
  ASSERT_TRUE(K);
  ASSERT_EQ(K->Variants.size(), 3u);
  EXPECT_EQ(K->Variants[0].Guard, 0u);
  EXPECT_EQ(K->Variants[1].Guard, 0u);
  EXPECT_EQ(K->Variants[2].Guard, 1u);
  ASSERT_EQ(K->Guards.size(), 1u);
  const std::vector<GuardRecord> &Values = K->Guards.at(1).Values;
  ASSERT_EQ(Values.size(), 2u);
  EXPECT_EQ(Values[0].Parameter, 2u);
  EXPECT_EQ(Values[0].Bytes, 4u);
  EXPECT_EQ(Values[0].Bits, 4096u);
  EXPECT_EQ(Values[0].Offset, 8u);
  EXPECT_EQ(Values[1].Bits, UINT64_MAX);
  EXPECT_EQ(P.find("l")->Guards.at(1).Values.size(), 1u);
}

TEST(Plan, guardOfAddresses_hasTheirPlaces) {
  Plan P;
  ASSERT_TRUE(read(P, "carve-plan\t1\nkernel\tk\treplay\tnone\nvariant\tk\tcontrol\tk__a\t0\n"
                      "variant\tk\trestrict\tk__b\t1\nguard-pointer\tk\t1\t0\t0\n"
                      "guard-pointer\tk\t1\t3\t8\n"));
  const std::vector<GuardedPointer> &Apart = P.find("k")->Guards.at(1).Apart;
  ASSERT_EQ(Apart.size(), 2u);
  EXPECT_EQ(Apart[1].Parameter, 3u);
  EXPECT_EQ(Apart[1].Offset, 8u);
  Plan Other;
  EXPECT_FALSE(read(Other, "carve-plan\t1\nkernel\tk\treplay\tnone\nguard-pointer\tk\t1\t0\n"));
}

TEST(Plan, variantWithSeveralCodes_hasAGuardForEach) {
  const std::string Head = "carve-plan\t1\nkernel\tk\treplay\tnone\n"
                           "variant\tk\tcontrol\tk__a\t0\nguard\tk\t1\t2\t4\t4096\t0\n"
                           "guard-shape\tk\t2\t7,1,1\t0,0,0\nguard-shape\tk\t3\t0,0,0\t64,1,1\n";
  const std::string Codes = "variant\tk\tshapes\tk__1\t1\nvariant\tk\tshapes\tk__2\t2\n"
                            "variant\tk\tshapes\tk__3\t3\n";
  Plan P;
  ASSERT_TRUE(read(P, Head + Codes + "exclude\tk\tshapes\n"));
  const PlannedKernel &K = *P.find("k");
  EXPECT_EQ(namesOf(K), (std::vector<std::string>{"default k", "control k__a", "shapes k__1",
                                                  "shapes k__2", "shapes k__3"}));
  EXPECT_EQ(K.Excluded, (std::set<size_t>{2, 3, 4})) << "all of its codes";
  LaunchShape Shape{{7, 1, 1}, {64, 1, 1}, 5, {1, 1, 1}}, Other{{8, 1, 1}, {32, 2, 1}};
  for (size_t V = 0; V < 5; ++V) {
    EXPECT_TRUE(K.mayRunIn(V, Shape)) << V;
    EXPECT_EQ(K.mayRunIn(V, Other), V < 3) << V;
  }
  for (const char *Bad : {"variant\tk\tshapes\tk__4\t1\n", "variant\tk\tshapes\tk__4\t0\n",
                          "variant\tk\tshapes\tk__4\t4\n"}) {
    Plan Refused;
    EXPECT_FALSE(read(Refused, Head + Codes + Bad)) << Bad;
  }
}

TEST(Plan, guardThatCannotBeChecked_isRefused) {
  for (const char *Guard :
       {"guard\tk\t1\t2\t3\t0\t0\n", "guard\tk\t1\t2\t0\t0\t0\n", "guard\tk\t1\t2\t16\t0\t0\n",
        "guard\tk\t1\t2\t4\n", "guard\tk\t1\t2\t4\t0\n", "guard\tj\t1\t2\t4\t0\t0\n",
        "guard-shape\tk\t1\t7,1\t0,0,0\n"}) {
    Plan P;
    EXPECT_FALSE(read(P, std::string("carve-plan\t1\nkernel\tk\treplay\tnone\n") + Guard)) << Guard;
  }
}

TEST(Plan, dispatchedKernel_hasOneVariantBesidesTheControl) {
  const std::string Kernel = "carve-plan\t1\nkernel\tk\tdispatch\tnone\n";
  const std::string Control = "variant\tk\tcontrol\tk__a\t0\n", One = "variant\tk\tr40\tk__b\t0\n",
                    Two = "variant\tk\tr48\tk__c\t0\n";
  Plan Sound;
  ASSERT_TRUE(read(Sound, Kernel + One + Control));
  EXPECT_EQ(Sound.find("k")->Mode, TimingMode::Dispatch);
  EXPECT_FALSE(isReplayed(Sound.find("k")->Mode));
  const std::string Guards = "guard\tk\t1\t2\t4\t1\t0\nguard\tk\t2\t2\t4\t2\t0\n";
  Plan OfTwoCodes;
  EXPECT_TRUE(read(OfTwoCodes, Kernel + Control + Guards + "variant\tk\tshapes\tk__b\t1\n" +
                                   "variant\tk\tshapes\tk__c\t2\n"));
  for (const std::string &Lines :
       {std::string(), Control, Control + One + Two, Control + One + "measure\tk\tr40\n"}) {
    Plan P;
    EXPECT_FALSE(read(P, Kernel + Lines)) << Lines;
  }
}
