#include "Probe/Driver/ScalarKey.h"

#include <array>
#include <cstring>
#include <gtest/gtest.h>

using namespace carve::probe;

static constexpr uint64_t Address = 0x7f8a4c000000, Other = 0x302000000;

/// Returns the key of a launch with one parameter.
template <class T> static uint64_t keyOf(const T &Value) {
  const void *Places[] = {&Value};
  return scalarKey({sizeof(T)}, Places);
}

TEST(ScalarKey, smallParameters_count) {
  EXPECT_EQ(keyOf(4096), keyOf(4096));
  EXPECT_NE(keyOf(4096), keyOf(14336));
  EXPECT_NE(keyOf(true), keyOf(false));
  EXPECT_NE(keyOf(1.0f), keyOf(0.0f));
}

TEST(ScalarKey, wordsOf8Bytes_countUnlessTheyMayBeAddresses) {
  EXPECT_NE(keyOf<int64_t>(4096), keyOf<int64_t>(14336));
  EXPECT_NE(keyOf<int64_t>(-1), keyOf<int64_t>(-2));
  EXPECT_NE(keyOf(0.5), keyOf(0.25));
  EXPECT_EQ(keyOf(Address), keyOf(Other));
  EXPECT_NE(keyOf(Address), keyOf<uint64_t>(0)) << "a null pointer may mean less work";
}

TEST(ScalarKey, structures_countButForAddresses) {
  struct View {
    uint64_t Base;
    int Rows, Columns;
  };
  EXPECT_EQ(keyOf(View{Address, 0, 0}), keyOf(View{Other, 0, 0}));
  EXPECT_NE(keyOf(View{Address, 64, 0}), keyOf(View{Address, 128, 0}));
  // A structure of 12 bytes has no address in it.
  EXPECT_NE(keyOf(std::array<unsigned, 3>{0x4c000000, 0x7f8a, 1}),
            keyOf(std::array<unsigned, 3>{0x02000000, 0x3, 1}));
}

TEST(ScalarKey, parameters_countByTheirPlaces) {
  int A = 1, B = 2;
  const void *One[] = {&A, &B}, *Two[] = {&B, &A};
  EXPECT_NE(scalarKey({4, 4}, One), scalarKey({4, 4}, Two));
  EXPECT_NE(scalarKey({}, nullptr), 0u);
}
