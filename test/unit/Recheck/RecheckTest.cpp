#include "Recheck/Recheck.h"

#include "llvm/Support/JSON.h"

#include "gtest/gtest.h"

using namespace carve;

namespace {

/// What a tuning says of a kernel whose variant r64 took \p Ratio of the default's time.
KernelReport timed(double Ratio) {
  KernelReport K;
  K.Kernel = "k(int)";
  K.Mangled = "_Z1ki";
  K.Share = 0.5;
  VariantReport V;
  V.Name = "r64";
  V.setRatio({Ratio, Ratio - 0.01, Ratio + 0.01});
  K.Variants = {V};
  return K;
}

EarlierDecision cap64() {
  EarlierDecision E;
  E.Decided.Kernel = "k(int)";
  E.Decided.Variant.Cap = 64;
  E.Decided.Basis.emplace();
  E.Decided.Basis->Device = "NVIDIA H200";
  E.Decided.Basis->Driver = "570.1";
  E.Decided.Basis->Ratio = 0.8;
  E.Decided.Basis->RatioLow = 0.79;
  E.Decided.Basis->RatioHigh = 0.81;
  E.Decided.Basis->Pairs = 3;
  return E;
}

} // namespace

TEST(Recheck, winner_holds) {
  KernelReport K = timed(0.8);
  K.Tuned = true;
  K.Ratio = {0.82, 0.81, 0.83};
  RecheckedKernel R = recheckedKernel(K, cap64());
  EXPECT_EQ(R.Verdict, RecheckVerdict::Holds);
  EXPECT_EQ(R.Now->Median, 0.82);
  EXPECT_EQ(R.Why, "");
}

TEST(Recheck, unconfirmedGain_isUncertain) {
  KernelReport K = timed(0.995);
  K.Reason = StayReason("the gain was not confirmed");
  RecheckedKernel R = recheckedKernel(K, cap64());
  EXPECT_EQ(R.Verdict, RecheckVerdict::Uncertain);
  EXPECT_EQ(R.Why, "the gain was not confirmed");
}

TEST(Recheck, slowerOrWrongVariant_isLost) {
  EXPECT_EQ(recheckedKernel(timed(1.02), cap64()).Verdict, RecheckVerdict::Lost);
  KernelReport Wrong = timed(0.7);
  Wrong.Variants.front().Fault = "its output differs";
  RecheckedKernel R = recheckedKernel(Wrong, cap64());
  EXPECT_EQ(R.Verdict, RecheckVerdict::Lost);
  EXPECT_EQ(R.Why, "its output differs");
}

TEST(Recheck, variantThatWasNotTimed_isUntimedWithItsReason) {
  KernelReport K = timed(0.8);
  K.Variants.front().Name = "r40";
  K.Dropped = {"r64: decided earlier, and not possible any more"};
  RecheckedKernel R = recheckedKernel(K, cap64());
  EXPECT_EQ(R.Verdict, RecheckVerdict::Untimed);
  EXPECT_FALSE(R.Now);
  EXPECT_EQ(R.Why, K.Dropped.front());
}

TEST(Recheck, outcome_hasDecidedKernelsAlone_andSaysWhatChanged) {
  TuneResult Result;
  Result.Report.Workload = "./app";
  Result.Report.Device = "NVIDIA H200";
  Result.Report.Driver = "580.2";
  KernelReport Other = timed(0.9);
  Other.Mangled = "_Z1ji";
  Result.Report.Kernels = {timed(1.1), Other};
  Result.Earlier.emplace("_Z1ki", cap64());
  RecheckOutcome O = recheckOutcome(Result);
  ASSERT_EQ(O.Kernels.size(), 1u);
  EXPECT_EQ(O.count(RecheckVerdict::Lost), 1u);
  std::string Text = printRecheckText(O);
  EXPECT_NE(Text.find("1 decision(s), 0 hold, 1 lost"), std::string::npos) << Text;
  EXPECT_NE(Text.find("then 0.800 [0.790, 0.810], now 1.100"), std::string::npos) << Text;
  EXPECT_NE(Text.find("timed with driver 570.1"), std::string::npos) << Text;
  EXPECT_EQ(Text.find("timed on"), std::string::npos) << "the device is the same: " << Text;
  auto Json = llvm::json::parse(printRecheckJson(O));
  ASSERT_TRUE(bool(Json));
  EXPECT_EQ(Json->getAsObject()->getArray("kernels")->size(), 1u);
}
