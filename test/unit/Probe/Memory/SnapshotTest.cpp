#include "Probe/Memory/Snapshot.h"

#include "Probe/Memory/device/HelperTypes.h"
#include "unit/Probe/MemoryDriver.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <thread>

using namespace carve::probe;
using carve::test::MemoryDriver;

static constexpr size_t Chunk = helper::ChunkBytes;

namespace {
class SnapshotTest : public testing::Test {
protected:
  SnapshotTest() { Api = Driver.api(); }
  ~SnapshotTest() override {
    Shot.reset();
    EXPECT_EQ(Driver.UsedBytes, 0u) << "of the device is still held";
    EXPECT_EQ(Driver.CaptureMode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  }

  Snapshot &shot(uint64_t WaitMs = 1000) {
    if (!Shot)
      Shot.emplace(Api, WaitMs);
    return *Shot;
  }

  /// Returns memory of the program, filled with numbers.
  size_t range(size_t Bytes, size_t Remainder = 0) {
    CUdeviceptr Base = Driver.programMemory(Bytes, Remainder);
    Ranges.push_back({Base, Bytes, MemoryKind::Device, nullptr});
    for (size_t I = 0; I < Bytes; ++I)
      bytes(Ranges.size() - 1)[I] = static_cast<unsigned char>(Random());
    return Ranges.size() - 1;
  }
  unsigned char *bytes(size_t Range) {
    return reinterpret_cast<unsigned char *>(Ranges[Range].Base);
  }
  std::vector<unsigned char> content(size_t Range) {
    return {bytes(Range), bytes(Range) + Ranges[Range].Bytes};
  }
  std::vector<Span> changed() {
    std::vector<Span> Spans;
    EXPECT_EQ(shot().changed(Spans).reason(), "");
    return Spans;
  }
  OutputDifference difference() {
    OutputDifference Difference;
    EXPECT_EQ(shot().differenceFromReference(Difference).reason(), "");
    return Difference;
  }
  template <class T> void put(size_t Range, size_t Offset, T Value) {
    std::memcpy(bytes(Range) + Offset, &Value, sizeof Value);
  }
  bool points(const std::vector<MemoryRange> &Pointed) {
    std::optional<AddressInMemory> Found;
    EXPECT_EQ(shot().pointsInto(Pointed, Found).reason(), "");
    return Found.has_value();
  }

  MemoryDriver Driver;
  DriverApi Api;
  std::vector<MemoryRange> Ranges;
  std::mt19937 Random{1};
  std::optional<Snapshot> Shot;
};
} // namespace

static testing::AssertionResult spansAre(const std::vector<Span> &Spans,
                                         const std::vector<Span> &Expected) {
  if (Spans == Expected)
    return testing::AssertionSuccess();
  auto Failure = testing::AssertionFailure();
  for (const Span &S : Spans)
    Failure << "(" << S.Range << " " << S.Offset << "+" << S.Bytes << ") ";
  return Failure;
}

TEST_F(SnapshotTest, restore_oddSizesAndAddresses_putsBackEveryByte) {
  for (size_t Bytes : {1, 15, 16, 17, 4095, 65535, 65536, 65537, 200000})
    for (size_t Remainder : {0, 1, 4, 15, 255})
      range(Bytes, Remainder);
  std::vector<std::vector<unsigned char>> Before;
  for (size_t I = 0; I < Ranges.size(); ++I)
    Before.push_back(content(I));
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  EXPECT_EQ(changed().size(), 0u);
  for (size_t I = 0; I < Ranges.size(); ++I)
    bytes(I)[0] ^= 1, bytes(I)[Ranges[I].Bytes - 1] ^= 2;
  EXPECT_GE(changed().size(), Ranges.size());
  EXPECT_EQ(shot().restoreAll().reason(), "");
  for (size_t I = 0; I < Ranges.size(); ++I)
    EXPECT_EQ(content(I), Before[I]) << I;
  EXPECT_EQ(changed().size(), 0u);
}

TEST_F(SnapshotTest, neighbouringChunks_areJoined) {
  size_t A = range(4 * Chunk + 10), B = range(2 * Chunk);
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  bytes(A)[Chunk] ^= 1;
  bytes(A)[3 * Chunk - 1] ^= 1;
  bytes(A)[4 * Chunk + 9] ^= 1;
  bytes(B)[0] ^= 1;
  EXPECT_TRUE(spansAre(changed(), {{A, Chunk, 2 * Chunk}, {A, 4 * Chunk, 10}, {B, 0, Chunk}}));
}

TEST_F(SnapshotTest, chunksOfTwoRanges_areNotJoined) {
  size_t A = range(Chunk), B = range(2 * Chunk);
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  bytes(A)[0] ^= 1;
  bytes(B)[Chunk] ^= 1; // The chunk is at the offset at which A ends.
  EXPECT_TRUE(spansAre(changed(), {{A, 0, Chunk}, {B, Chunk, Chunk}}));
}

TEST_F(SnapshotTest, restore_putsBackTheGivenSpansOnly) {
  size_t A = range(3 * Chunk, 4);
  std::vector<unsigned char> Before = content(A);
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  for (size_t At : {size_t(5), Chunk + 5, 2 * Chunk + 5})
    bytes(A)[At] ^= 1;
  EXPECT_EQ(shot().restore({{A, Chunk, Chunk}}).reason(), "");
  EXPECT_TRUE(spansAre(changed(), {{A, 0, Chunk}, {A, 2 * Chunk, Chunk}}));
  // Other spans come after the same spans twice.
  EXPECT_EQ(shot().restore({{A, Chunk, Chunk}}).reason(), "");
  EXPECT_EQ(shot().restore({}).reason(), "");
  EXPECT_EQ(changed().size(), 2u);
  EXPECT_EQ(shot().restore({{A, 0, Chunk}, {A, 2 * Chunk, Chunk}}).reason(), "");
  EXPECT_EQ(content(A), Before);
}

TEST_F(SnapshotTest, restoreAll_writesNothingThatIsEqual) {
  range(Chunk);
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  Driver.Launches.clear();
  EXPECT_EQ(shot().restoreAll().reason(), "");
  EXPECT_EQ(Driver.Launches, std::vector<std::string>{"compare"});
}

TEST_F(SnapshotTest, thousandRanges_areRestored) {
  for (int I = 0; I < 1000; ++I)
    range(1 + Random() % 3000, Random() % 256);
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  size_t Sum = 0;
  for (const MemoryRange &R : Ranges)
    Sum += R.Bytes;
  EXPECT_EQ(shot().savedBytes(), Sum);
  bytes(777)[0] ^= 1;
  EXPECT_TRUE(spansAre(changed(), {{777, 0, Ranges[777].Bytes}}));
}

TEST_F(SnapshotTest, emptyRange_isIgnored) {
  Ranges.push_back({});
  size_t A = range(100);
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  bytes(A)[99] ^= 1;
  EXPECT_TRUE(spansAre(changed(), {{A, 0, 100}}));
}

TEST_F(SnapshotTest, secondSave_savesThePresentContent) {
  size_t A = range(1000);
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  bytes(A)[0] ^= 1;
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  EXPECT_EQ(changed().size(), 0u);
  EXPECT_EQ(Driver.ModulesLoaded, 1) << "the kernels are loaded once";
  Driver.ContextNumber = 2; // The new context has the same address as the one before.
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  EXPECT_EQ(Driver.ModulesLoaded, 2);
}

TEST_F(SnapshotTest, memoryThatDoesNotFit_isKeptOnTheHost) {
  // Two thirds of what is to be saved fit beside the staging memory.
  Driver.DeviceBytes = size_t(28) << 20;
  size_t A = range(5 * Chunk + 3, 3), B = range(size_t(30) << 20, 8), C = range(77, 1);
  std::vector<std::vector<unsigned char>> Before{content(A), content(B), content(C)};
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  size_t Spilled = shot().spilledBytes();
  EXPECT_GT(Spilled, size_t(1) << 20);
  EXPECT_LT(Spilled, size_t(30) << 20);
  EXPECT_LE(Driver.UsedBytes, Driver.DeviceBytes);
  EXPECT_EQ(changed().size(), 0u);
  bytes(A)[0] ^= 1;
  bytes(B)[0] ^= 1;
  bytes(B)[Ranges[B].Bytes - 1] ^= 1;
  bytes(C)[76] ^= 1;
  EXPECT_TRUE(spansAre(
      changed(), {{A, 0, Chunk}, {B, 0, Chunk}, {B, Ranges[B].Bytes - Chunk, Chunk}, {C, 0, 77}}));
  EXPECT_EQ(shot().restoreAll().reason(), "");
  EXPECT_EQ(content(A), Before[0]);
  EXPECT_EQ(content(B), Before[1]);
  EXPECT_EQ(content(C), Before[2]);
}

TEST_F(SnapshotTest, referenceOnTheHost_isCompared) {
  Driver.DeviceBytes = size_t(28) << 20;
  size_t A = range(size_t(20) << 20, 4);
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  ASSERT_EQ(shot().keepReference({{A, 0, Ranges[A].Bytes}}).reason(), "");
  uint64_t Multiset = difference().Multiset;
  EXPECT_TRUE(difference().equal());
  put<uint32_t>(A, Ranges[A].Bytes - 4, 1);
  put<uint32_t>(A, 16, 1);
  EXPECT_EQ(difference().Words, 2u);
  EXPECT_NE(difference().Multiset, Multiset);
}

TEST_F(SnapshotTest, referenceOfAllMemory_isKeptOnTheDevice) {
  for (size_t Bytes : {size_t(10) << 20, Chunk, Chunk + 1, size_t(1), (size_t(3) << 20) + 77})
    range(Bytes, Bytes % 5);
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  size_t Saved = Driver.UsedBytes;
  std::vector<Span> All;
  for (size_t I = 0; I < Ranges.size(); ++I)
    All.push_back({I, 0, Ranges[I].Bytes});
  ASSERT_EQ(shot().keepReference(All).reason(), "");
  EXPECT_GT(Driver.UsedBytes, Saved + (size_t(12) << 20));
  EXPECT_TRUE(difference().equal());
  Driver.Launches.clear();
  difference();
  EXPECT_EQ(Driver.Launches, std::vector<std::string>{"difference"}) << "nothing is on the host";
}

TEST_F(SnapshotTest, save_withoutRoom_fails) {
  size_t A = range(100);
  Ranges[A].Bytes = size_t(1) << 50;
  Driver.Known[Ranges[A].Base] = Ranges[A].Bytes;
  EXPECT_EQ(shot().save(Ranges, nullptr).reason(), "memory");
}

TEST_F(SnapshotTest, save_memoryUnknownToTheDriver_fails) {
  size_t A = range(100);
  Driver.Known.erase(Ranges[A].Base);
  EXPECT_EQ(shot().save(Ranges, nullptr).reason(), "cuMemGetAddressRange 500");
  Driver.Known[Ranges[A].Base] = 99;
  EXPECT_EQ(shot().save(Ranges, nullptr).reason(), "memory-unknown");
  EXPECT_TRUE(Driver.Launches.empty());
}

TEST_F(SnapshotTest, difference_ofFloats_isRelative) {
  size_t A = range(64);
  std::memset(bytes(A), 0, 64);
  put(A, 0, 1.0f), put(A, 4, 1e-40f), put(A, 8, 2.0), put(A, 16, -1.0f);
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  ASSERT_EQ(shot().keepReference({{A, 0, 64}}).reason(), "");
  EXPECT_TRUE(difference().equal());
  EXPECT_EQ(difference().RelativeF32, 0);
  put(A, 0, 1.25f);
  EXPECT_EQ(difference().Words, 1u);
  EXPECT_DOUBLE_EQ(difference().RelativeF32, 0.2);
  put(A, 0, 1.0f), put(A, 4, 5e-41f); // Both numbers are below the normal numbers.
  EXPECT_NEAR(difference().RelativeF32, 0.5, 1e-4);
  put(A, 4, 1e-40f), put(A, 16, 1.0f);
  EXPECT_DOUBLE_EQ(difference().RelativeF32, 2);
  put(A, 16, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(difference().RelativeF32, INFINITY);
  put(A, 16, std::numeric_limits<float>::infinity());
  EXPECT_EQ(difference().RelativeF32, INFINITY);
}

TEST_F(SnapshotTest, difference_ofDoubles_isRelative) {
  size_t A = range(20);
  std::memset(bytes(A), 0, 20);
  put(A, 8, 2.0);
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  ASSERT_EQ(shot().keepReference({{A, 0, 20}}).reason(), "");
  put(A, 8, std::nextafter(2.0, 3.0));
  EXPECT_EQ(difference().Words, 1u) << "the low word alone";
  EXPECT_NEAR(difference().RelativeF64, 2.2e-16, 1e-17);
  put(A, 8, -1.7e308), put(A, 0, 1.0);
  EXPECT_DOUBLE_EQ(difference().RelativeF64, 1);
  put(A, 0, 0.0), put(A, 8, 2.0), put(A, 16, 1.0f);
  EXPECT_EQ(difference().RelativeF64, 0) << "the last word has no neighbour";
  EXPECT_EQ(difference().RelativeF32, 1);
}

TEST(RelativeDifference, extremeNumbers_haveTheirRelativeDifference) {
  double Largest = std::numeric_limits<double>::max(), Least = 5e-324;
  EXPECT_DOUBLE_EQ(helper::relativeDifference(Largest, -Largest), 2);
  EXPECT_DOUBLE_EQ(helper::relativeDifference(Least, -Least), 2);
  EXPECT_EQ(helper::relativeDifference(0.0, -0.0), 0);
  EXPECT_EQ(helper::relativeDifference(INFINITY, INFINITY), 0);
  EXPECT_EQ(helper::relativeDifference(INFINITY, -INFINITY), INFINITY);
  EXPECT_EQ(helper::relativeDifference(1, INFINITY), INFINITY);
  EXPECT_EQ(helper::relativeDifference(NAN, NAN), INFINITY);
}

TEST_F(SnapshotTest, bytesAfterTheLastWord_areCompared) {
  for (size_t Bytes : {1, 3, 5, 7, 65537}) {
    Ranges.clear();
    size_t A = range(Bytes, Bytes % 4);
    ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
    ASSERT_EQ(shot().keepReference({{A, 0, Bytes}}).reason(), "");
    bytes(A)[Bytes - 1] ^= 1;
    EXPECT_EQ(difference().Words, 1u) << Bytes;
  }
}

TEST_F(SnapshotTest, permutation_hasTheSameMultiset) {
  size_t A = range(4 * 10000);
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  ASSERT_EQ(shot().keepReference({{A, 0, Ranges[A].Bytes}}).reason(), "");
  uint64_t Multiset = difference().Multiset;
  auto *Words = reinterpret_cast<uint32_t *>(bytes(A));
  std::shuffle(Words, Words + 10000, Random);
  EXPECT_GT(difference().Words, 9000u);
  EXPECT_EQ(difference().Multiset, Multiset);
  // These are as many words, with the same sum.
  ++Words[0], --Words[1];
  EXPECT_NE(difference().Multiset, Multiset);
}

TEST_F(SnapshotTest, comparison_coversTheSpansOfTheReferenceOnly) {
  size_t A = range(3 * Chunk);
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  bytes(A)[Chunk] ^= 1;
  ASSERT_EQ(shot().keepReference({{A, Chunk, Chunk}}).reason(), "");
  bytes(A)[0] ^= 1;
  EXPECT_TRUE(difference().equal());
  bytes(A)[Chunk] ^= 1;
  EXPECT_EQ(difference().Words, 1u);
  // What is saved is not the reference.
  EXPECT_TRUE(spansAre(changed(), {{A, 0, Chunk}}));
  ASSERT_EQ(shot().keepReference({}).reason(), "");
  EXPECT_TRUE(difference().equal());
}

TEST_F(SnapshotTest, addressesInSavedMemory_areFound) {
  size_t A = range(Chunk + 24, 4);
  std::memset(bytes(A), 0, Ranges[A].Bytes);
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  std::vector<MemoryRange> Pointed{{0x7000, 0x100, MemoryKind::Host, nullptr},
                                   {0x5000, 0x10, MemoryKind::Host, nullptr}};
  EXPECT_FALSE(points(Pointed));
  EXPECT_FALSE(points({}));
  for (uint64_t Outside : {0x7100, 0x6fff, 0x5010, 0x4fff}) {
    put<uint64_t>(A, 12, Outside);
    EXPECT_FALSE(points(Pointed)) << Outside;
  }
  for (uint64_t Inside : {0x7000, 0x70ff, 0x5000, 0x500f}) {
    put<uint64_t>(A, 12, Inside);
    EXPECT_TRUE(points(Pointed)) << Inside;
  }
  put<uint64_t>(A, 12, 0);
  // The address lies across two chunks, and in the last whole word.
  put<uint64_t>(A, Chunk - 4, 0x7000);
  EXPECT_TRUE(points(Pointed));
  put<uint64_t>(A, Chunk - 4, 0);
  put<uint64_t>(A, Chunk + 12, 0x7000);
  EXPECT_TRUE(points(Pointed));
  put<uint64_t>(A, Chunk + 12, 0);
  put<uint64_t>(A, Chunk + 16, 0x7000); // The address is not at a multiple of eight.
  EXPECT_FALSE(points(Pointed));
}

TEST_F(SnapshotTest, flushL2_readsTwiceTheCache_andMakesThatTheFirstToGo) {
  range(100);
  EXPECT_EQ(shot().flushL2().reason(), "memory") << "nothing is saved yet";
  Driver.L2Bytes = 50'000'000;
  Driver.DeviceBytes = size_t(200) << 20;
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  EXPECT_EQ(shot().flushL2().reason(), "");
  EXPECT_EQ(Driver.ReadBytes, 100'000'000u);
  EXPECT_EQ(Driver.EvictFirstBytes, 100'000'000u);
}

TEST_F(SnapshotTest, fillL2_writesTwiceTheCache_andNothingOfTheProgram) {
  size_t A = range(100);
  EXPECT_EQ(shot().fillL2().reason(), "memory") << "nothing is saved yet";
  Driver.L2Bytes = 50'000'000;
  Driver.DeviceBytes = size_t(200) << 20;
  std::memset(bytes(A), 1, 100);
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  Driver.FilledBytes = 0;
  EXPECT_EQ(shot().fillL2().reason(), "");
  EXPECT_EQ(Driver.FilledBytes, 100'000'000u);
  std::vector<Span> Spans;
  EXPECT_EQ(shot().changed(Spans).reason(), "");
  EXPECT_TRUE(Spans.empty());
}

TEST_F(SnapshotTest, waitForAHang_ends) {
  range(100);
  Driver.NotReady = 20;
  ASSERT_EQ(shot(30).save(Ranges, nullptr).reason(), "");
  Driver.NotReady = ~0u;
  std::vector<Span> Spans;
  EXPECT_EQ(shot().changed(Spans).reason(), "hang");
  Driver.NotReady = 0;
  Driver.StreamResult = CUDA_ERROR_ILLEGAL_ADDRESS;
  EXPECT_EQ(shot().changed(Spans).reason(), "cuStreamQuery 700");
  EXPECT_EQ(shot().restore({{0, 0, 100}}).reason(), "cuStreamQuery 700");
}

TEST_F(SnapshotTest, heldMemory_isGivenBackWhenTheProgramNeedsIt) {
  auto Alloc = CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2;
  range(100'000);
  EXPECT_FALSE(releaseForProgram(Alloc, shot())) << "nothing is held";
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  EXPECT_GT(shot().heldBytes(), 100'000u);
  EXPECT_EQ(shot().heldBytes(), Driver.UsedBytes);
  EXPECT_FALSE(releaseForProgram(Alloc, shot())) << "it is in use";
  shot().done();
  EXPECT_EQ(shot().heldBytes(), Driver.UsedBytes);
  EXPECT_GT(shot().heldBytes(), 0u) << "kept for the next";
  EXPECT_FALSE(releaseForProgram(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, shot()));
  EXPECT_TRUE(releaseForProgram(Alloc, shot()));
  EXPECT_EQ(shot().heldBytes(), 0u);
  EXPECT_EQ(Driver.UsedBytes, 0u);
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  EXPECT_EQ(changed().size(), 0u);
}

TEST_F(SnapshotTest, memoryInUse_isNotReleased) {
  range(100'000);
  shot();
  std::atomic<bool> Ended{false};
  std::thread Program([&] {
    while (!Ended)
      releaseForProgram(CUPTI_DRIVER_TRACE_CBID_cuMemGetInfo_v2, shot());
  });
  for (int I = 0; I < 200; ++I) {
    EXPECT_EQ(shot().save(Ranges, nullptr).reason(), "");
    bytes(0)[I] ^= 1;
    EXPECT_TRUE(spansAre(changed(), {{0, 0, Chunk}}));
    EXPECT_EQ(shot().restoreAll().reason(), "");
    EXPECT_EQ(changed().size(), 0u);
    shot().done();
  }
  Ended = true;
  Program.join();
}

TEST_F(SnapshotTest, memoryThatCannotBeGivenBackWithoutWaiting_isNotKept) {
  Driver.MapsMemory = false;
  range(100'000);
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  EXPECT_GT(shot().heldBytes(), 100'000u);
  shot().done();
  EXPECT_EQ(shot().heldBytes(), 0u);
  EXPECT_EQ(Driver.UsedBytes, 0u);
}

TEST_F(SnapshotTest, heldMemory_isUsedAgain) {
  range(300'000);
  auto Replay = [&] {
    EXPECT_EQ(shot().save(Ranges, nullptr).reason(), "");
    EXPECT_EQ(shot().keepReference({{0, 0, Chunk}}).reason(), "");
    EXPECT_EQ(shot().keepReference({{0, Chunk, Chunk}}).reason(), "");
    shot().done();
  };
  for (int I = 0; I < 3; ++I)
    Replay();
  size_t Held = shot().heldBytes();
  EXPECT_LE(Held, size_t(4) << 20);
  for (int I = 0; I < 20; ++I)
    Replay();
  EXPECT_EQ(shot().heldBytes(), Held);
  // This range is larger and lies beside the first one.
  range(10'000'000);
  std::vector<unsigned char> Before = content(1);
  ASSERT_EQ(shot().save(Ranges, nullptr).reason(), "");
  bytes(1)[9'999'999] ^= 1, bytes(1)[0] ^= 1;
  ASSERT_EQ(shot().restoreAll().reason(), "");
  EXPECT_EQ(content(1), Before);
}

TEST_F(SnapshotTest, driverThatCannotCopy_fails) {
  Api = DriverApi();
  EXPECT_EQ(shot().save({}, nullptr).reason(), "driver-incomplete");
}
