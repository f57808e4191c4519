#include "Cubin/ReplaceKernels.h"
#include "unit/Cubin/CubinTesting.h"
#include "unit/Ptx/PtxTesting.h"

#include <random>

using namespace carve;
using namespace llvm;

class LinkedCubin : public testing::TestWithParam<const char *> {};

TEST_P(LinkedCubin, replaceKernels_fromTheSameImage_returnsItByteForByte) {
  std::string Bytes = recordedCubin(GetParam());
  auto Same = replaceKernels(Bytes, Bytes, {"_Z2avPf", "_Z5bulkyPdi", "_Z9recursivePi", "init"});
  ASSERT_TRUE(bool(Same)) << toString(Same.takeError());
  EXPECT_TRUE(*Same == Bytes) << Same->size() << " bytes, expected " << Bytes.size();
}

INSTANTIATE_TEST_SUITE_P(Architectures, LinkedCubin, testing::Values("sm_75", "sm_90"));

TEST(ReplaceKernels, unfitImage_failsWithItsReason) {
  std::string Ninety = recordedCubin("sm_90");
  EXPECT_EQ(reasonOf(replaceKernels(Ninety, recordedCubin("sm_75"), {"init"})), "other-module");
  EXPECT_EQ(
      reasonOf(replaceKernels(recordedCubin("rdc.sm_80"), recordedCubin("rdc.sm_80"), {"init"})),
      "other-module");
  EXPECT_EQ(reasonOf(replaceKernels(recordedCubin("sm_100"), recordedCubin("sm_100"), {"init"})),
            "mercury-code");
  EXPECT_EQ(reasonOf(replaceKernels(Ninety, Ninety, {"absent"})), "cubin: no kernel named absent");
}

TEST(ReplaceKernels, damagedImage_failsOrSucceedsWithoutReadingBeyondIt) {
  std::string Whole = recordedCubin("sm_90");
  std::mt19937 Random(1);
  for (int I = 0; I < 2000; ++I) {
    std::string Damaged = Whole;
    for (int N = 0; N < 3; ++N)
      Damaged[Random() % Damaged.size()] = char(Random());
    for (auto [Base, Donor] : {std::pair(&Damaged, &Whole), {&Whole, &Damaged}})
      if (auto Made = replaceKernels(*Base, *Donor, {"_Z5bulkyPdi"}); !Made)
        consumeError(Made.takeError());
  }
}
