#include "Probe/Trace/LaunchArguments.h"

#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>

using namespace carve;
using namespace carve::probe;

namespace {
/// The parameters of a kernel: an address, a structure, a number and a flag.
struct LaunchedValues {
  uint64_t Address = 0x7f0000001000;
  char Structure[16] = {};
  unsigned Count = 4096;
  bool Flag = true;

  std::vector<const void *> places() const { return {&Address, Structure, &Count, &Flag}; }
};
const std::vector<size_t> SizesOfValues = {8, 16, 4, 1};

/// Handles are never dereferenced.
const void *kernelHandle(uintptr_t Number) { return reinterpret_cast<const void *>(Number); }
} // namespace

/// Returns those of \p Lines that tell of all launches, or only of those with one grid and block.
static std::string linesOf(const std::string &Lines, bool OfShapes) {
  std::string Found;
  for (size_t At = 0, End; At < Lines.size(); At = End) {
    End = Lines.find('\n', At) + 1;
    if ((Lines.compare(At, 6, "shape-") == 0) == OfShapes)
      Found += Lines.substr(At, End - At);
  }
  return Found;
}

static const LaunchShape Small{{64, 1, 1}, {256, 1, 1}, 0, {1, 1, 1}};

/// Returns the lines of a launch of \p Handle; `unknown` if the handle is not known.
static std::string compared(LaunchArguments &All, const void *Handle, const LaunchedValues &Values,
                            const LaunchShape &Shape = Small, bool OfShapes = false) {
  std::string Lines;
  bool Known = All.compare(Handle, Shape, Values.places().data(), Lines).has_value();
  return Known ? linesOf(Lines, OfShapes) : "unknown";
}

/// Returns the lines of the first launch of \p Handle, a kernel `k`.
static std::string added(LaunchArguments &All, const void *Handle, const LaunchedValues &Values,
                         bool OfShapes = false) {
  std::string Lines;
  All.add(Handle, "k", SizesOfValues, Small, Values.places().data(), Lines);
  return linesOf(Lines, OfShapes);
}

static const char FirstLines[] = "argument\tk\t0\t8\t139637976731648\t0\n"
                                 "argument\tk\t1\t4\t0\t0\nargument\tk\t1\t4\t0\t4\n"
                                 "argument\tk\t1\t4\t0\t8\nargument\tk\t1\t4\t0\t12\n"
                                 "argument\tk\t2\t4\t4096\t0\nargument\tk\t3\t1\t1\t0\n";
static const char UnknownLine[] = "argument\tk\t0\t0\t0\t0\n";

TEST(LaunchArguments, firstLaunch_recordsNumbersAndWordsOfStructures) {
  LaunchArguments All;
  LaunchedValues Values;
  EXPECT_EQ(compared(All, kernelHandle(1), Values), "unknown");
  EXPECT_EQ(added(All, kernelHandle(1), Values), FirstLines);
  EXPECT_EQ(compared(All, kernelHandle(1), Values), "") << "nothing is new";
}

TEST(LaunchArguments, addresses_areRecordedWithWhatIsNotApart) {
  // Allocations of 4 KB from 0x7f0000000000 on, and none below.
  LaunchArguments All([](uint64_t A) {
    return A >= 0x7f0000000000 && A < 0x7f0000100000 ? Allocation{A & ~0xfffull, 0x1000}
                                                     : Allocation();
  });
  LaunchedValues Values;
  const uint64_t Inside = Values.Address + 0x1010;
  std::memcpy(Values.Structure + 8, &Inside, 8);
  auto OfPointers = [](const std::string &Lines) {
    return Lines.substr(std::min(Lines.find("pointer"), Lines.find("alias")));
  };
  EXPECT_EQ(OfPointers(added(All, kernelHandle(1), Values)),
            "pointer\tk\t0\t0\npointer\tk\t1\t8\n");
  Values.Address += 0x1000;
  EXPECT_EQ(OfPointers(compared(All, kernelHandle(1), Values)), "alias\tk\t0\t0\t1\t8\n");
  Values.Address += 8;
  EXPECT_EQ(compared(All, kernelHandle(1), Values).find("alias"), std::string::npos)
      << "it is recorded already";
  Values.Address = 16;
  EXPECT_EQ(OfPointers(compared(All, kernelHandle(1), Values)), "alias\tk\t0\t0\t0\t0\n");
  Values.Address = 24;
  EXPECT_EQ(compared(All, kernelHandle(1), Values), "");
}

TEST(LaunchArguments, addressesThatMayBeMeantForOneAllocation_areNotApart) {
  const Allocation A{0x10000, 0x1000}, B{0x11000, 0x1000}, Far{0x20000, 0x1000};
  EXPECT_TRUE(areApart(0x10000, A, 0x20000, Far));
  EXPECT_TRUE(areApart(0x10000, A, 0x11800, B));
  EXPECT_FALSE(areApart(0x10000, A, 0x10fff, A));
  EXPECT_FALSE(areApart(0x10000, A, 0x11000, B)) << "it may be the end of the first one";
  EXPECT_FALSE(areApart(0x10ffc, A, 0x11800, B)) << "it may be counted from 1";
  EXPECT_FALSE(areApart(0x10000, A, 0, {}));
}

TEST(LaunchArguments, addresses_areLookedAtLessOften) {
  uint64_t Asked = 0;
  LaunchArguments All([&](uint64_t A) { return ++Asked, Allocation{A, 8}; });
  LaunchedValues Values;
  added(All, kernelHandle(1), Values);
  for (unsigned N = 0; N < 5000; ++N) {
    ++Values.Count;
    compared(All, kernelHandle(1), Values);
  }
  EXPECT_GT(Asked, LaunchArguments::MostLooks);
  EXPECT_LT(Asked, 4 * LaunchArguments::MostLooks);
}

TEST(LaunchArguments, otherValue_isRecordedOnce) {
  LaunchArguments All;
  LaunchedValues Values;
  added(All, kernelHandle(1), Values);
  Values.Count = 0xffffffff;
  EXPECT_EQ(compared(All, kernelHandle(1), Values), "argument\tk\t2\t4\t4294967295\t0\n");
  Values.Count = 7;
  EXPECT_EQ(compared(All, kernelHandle(1), Values), "");
  Values.Flag = false;
  EXPECT_EQ(compared(All, kernelHandle(1), Values), "argument\tk\t3\t1\t0\t0\n");
}

TEST(LaunchArguments, structure_isComparedByWords) {
  LaunchArguments All;
  LaunchedValues Values;
  added(All, kernelHandle(1), Values);
  std::memset(Values.Structure + 7, 1, 2); // The last byte of one word, and the first of the next.
  EXPECT_EQ(compared(All, kernelHandle(1), Values),
            "argument\tk\t1\t4\t16777216\t4\nargument\tk\t1\t4\t1\t8\n");
  std::memset(Values.Structure, 2, sizeof Values.Structure);
  EXPECT_EQ(compared(All, kernelHandle(1), Values),
            "argument\tk\t1\t4\t33686018\t0\nargument\tk\t1\t4\t33686018\t12\n");
}

TEST(LaunchArguments, endOfAStructure_hasSmallerWords) {
  const unsigned char Structure[7] = {1, 0, 0, 0, 2, 0, 3};
  const void *Arguments[] = {Structure};
  LaunchArguments All;
  std::string Lines;
  All.add(kernelHandle(1), "k", std::vector<size_t>{7}, Small, Arguments, Lines);
  EXPECT_EQ(linesOf(Lines, false), "argument\tk\t0\t4\t1\t0\nargument\tk\t0\t2\t2\t4\n"
                                   "argument\tk\t0\t1\t3\t6\n");
}

TEST(LaunchArguments, structureThatIsTooLarge_isNotRead) {
  const void *Arguments[] = {nullptr};
  LaunchArguments All;
  std::string Lines;
  All.add(kernelHandle(1), "k", std::vector<size_t>{4097}, Small, Arguments, Lines);
  EXPECT_TRUE(All.compare(kernelHandle(1), Small, Arguments, Lines));
  EXPECT_EQ(Lines, "");
}

TEST(LaunchArguments, addressThatVaries_isComparedByItsLowestByte) {
  LaunchArguments All;
  LaunchedValues Values;
  added(All, kernelHandle(1), Values);
  Values.Address = 0x2000;
  EXPECT_EQ(compared(All, kernelHandle(1), Values), "argument\tk\t0\t8\t8192\t0\n");
  Values.Address = 0x3000;
  EXPECT_EQ(compared(All, kernelHandle(1), Values), "");
  Values.Address = 0x3010;
  EXPECT_EQ(compared(All, kernelHandle(1), Values), "argument\tk\t0\t1\t16\t0\n");
  Values.Address = 0x3020;
  EXPECT_EQ(compared(All, kernelHandle(1), Values), "");
}

TEST(LaunchArguments, kernelWithTwoHandles_hasOneFirstLaunch) {
  LaunchArguments All;
  LaunchedValues Values;
  added(All, kernelHandle(1), Values);
  EXPECT_EQ(added(All, kernelHandle(2), Values), "");
  Values.Count = 1;
  EXPECT_EQ(compared(All, kernelHandle(2), Values), "argument\tk\t2\t4\t1\t0\n");
  EXPECT_EQ(compared(All, kernelHandle(1), Values), "");
}

TEST(LaunchArguments, forgottenHandles_leaveTheValues) {
  LaunchArguments All;
  LaunchedValues Values;
  added(All, kernelHandle(1), Values);
  All.forgetHandles();
  EXPECT_EQ(compared(All, kernelHandle(1), Values), "unknown");
  std::string Lines;
  unsigned Count = 1;
  const void *Other[] = {&Count};
  All.add(kernelHandle(1), "l", std::vector<size_t>{4}, Small, Other, Lines);
  EXPECT_EQ(linesOf(Lines, false), "argument\tl\t0\t4\t1\t0\n") << "the handle is another kernel's";
  Values.Count = 2;
  EXPECT_EQ(added(All, kernelHandle(2), Values), "argument\tk\t2\t4\t2\t0\n");
}

TEST(LaunchArguments, launchWithoutReadableArguments_makesTheKernelUnknown) {
  LaunchArguments First, Later, Sizeless;
  LaunchedValues Values;
  std::string Lines;
  First.add(kernelHandle(1), "k", SizesOfValues, Small, nullptr, Lines);
  EXPECT_EQ(Lines, UnknownLine);
  EXPECT_EQ(compared(First, kernelHandle(1), Values), "");
  added(Later, kernelHandle(1), Values);
  Lines.clear();
  EXPECT_TRUE(Later.compare(kernelHandle(1), Small, nullptr, Lines));
  EXPECT_TRUE(Later.compare(kernelHandle(1), Small, nullptr, Lines));
  EXPECT_EQ(Lines, UnknownLine);
  Values.Count = 1;
  EXPECT_EQ(compared(Later, kernelHandle(1), Values), "") << "no value counts any more";
  Lines.clear();
  Sizeless.add(kernelHandle(1), "k", std::nullopt, Small, Values.places().data(), Lines);
  EXPECT_EQ(Lines, UnknownLine);
  EXPECT_EQ(compared(Sizeless, kernelHandle(1), Values), "");
}

TEST(LaunchArguments, kernelsOfOneNameWithOtherParameters_areUnknown) {
  LaunchArguments All;
  LaunchedValues Values;
  added(All, kernelHandle(1), Values);
  std::string Lines;
  unsigned Count = 1;
  const void *Other[] = {&Count};
  All.add(kernelHandle(2), "k", std::vector<size_t>{4}, Small, Other, Lines);
  EXPECT_EQ(Lines, UnknownLine);
  EXPECT_TRUE(All.compare(kernelHandle(2), Small, Other, Lines));
  EXPECT_EQ(Lines, UnknownLine) << "it is said once";
}

TEST(LaunchArguments, kernelWithoutParameters_needsNoArguments) {
  LaunchArguments All;
  std::string Lines;
  All.add(kernelHandle(1), "k", std::vector<size_t>(), Small, nullptr, Lines);
  EXPECT_TRUE(All.compare(kernelHandle(1), Small, nullptr, Lines));
  EXPECT_EQ(Lines, "");
}

TEST(LaunchArguments, valuesOfEachGridAndBlock_areComparedByThemselves) {
  LaunchArguments All;
  LaunchedValues Values;
  const std::string First = added(All, kernelHandle(1), Values, /*OfShapes=*/true);
  EXPECT_EQ(First, "shape-argument\tk\t64,1,1\t256,1,1\t0\t8\t139637976731648\t0\n"
                   "shape-argument\tk\t64,1,1\t256,1,1\t1\t4\t0\t0\n"
                   "shape-argument\tk\t64,1,1\t256,1,1\t1\t4\t0\t4\n"
                   "shape-argument\tk\t64,1,1\t256,1,1\t1\t4\t0\t8\n"
                   "shape-argument\tk\t64,1,1\t256,1,1\t1\t4\t0\t12\n"
                   "shape-argument\tk\t64,1,1\t256,1,1\t2\t4\t4096\t0\n"
                   "shape-argument\tk\t64,1,1\t256,1,1\t3\t1\t1\t0\n");
  LaunchShape Large = Small;
  Large.Grid[0] = 128;
  LaunchedValues More;
  More.Count = 8192;
  EXPECT_NE(compared(All, kernelHandle(1), More, Large, true)
                .find("shape-argument\tk\t128,1,1\t256,1,1\t2\t4\t8192\t0\n"),
            std::string::npos);
  EXPECT_EQ(compared(All, kernelHandle(1), Values, Small, true), "");
  EXPECT_EQ(compared(All, kernelHandle(1), More, Large, true), "");
  Large.DynamicSmemBytes = 1024;
  EXPECT_EQ(compared(All, kernelHandle(1), More, Large, true), "")
      << "guards do not see the shared memory";
  More.Count = 1;
  EXPECT_EQ(compared(All, kernelHandle(1), More, Large, true),
            "shape-argument\tk\t128,1,1\t256,1,1\t2\t4\t1\t0\n");
  More.Structure[4] = 3;
  More.Address += 256;
  EXPECT_EQ(compared(All, kernelHandle(1), More, Large, true),
            "shape-argument\tk\t128,1,1\t256,1,1\t0\t8\t139637976731904\t0\n"
            "shape-argument\tk\t128,1,1\t256,1,1\t1\t4\t3\t4\n");
  More.Address += 1;
  EXPECT_EQ(compared(All, kernelHandle(1), More, Large, true),
            "shape-argument\tk\t128,1,1\t256,1,1\t0\t1\t1\t0\n");
}

TEST(LaunchArguments, launchesOfManyShapes_areRecordedForTheFirstOnes) {
  LaunchArguments All;
  LaunchedValues Values;
  added(All, kernelHandle(1), Values);
  size_t Recorded = 1;
  for (unsigned Blocks = 1; Blocks < 100; ++Blocks) {
    LaunchShape Shape = Small;
    Shape.Grid[1] = 1 + Blocks;
    Recorded += !compared(All, kernelHandle(1), Values, Shape, true).empty();
  }
  EXPECT_EQ(Recorded, LaunchArguments::MostShapes);
  Values.Count = 1;
  LaunchShape Late = Small;
  Late.Grid[1] = 100;
  EXPECT_EQ(compared(All, kernelHandle(1), Values, Late), "argument\tk\t2\t4\t1\t0\n")
      << "all launches still count for the kernel";
}

TEST(LaunchArguments, manyWords_areComparedInFewerShapes) {
  LaunchArguments All;
  std::vector<char> Words(1000);
  const void *Values[] = {Words.data()};
  std::string Lines;
  for (unsigned Blocks = 1; Blocks <= 10; ++Blocks) {
    const LaunchShape Shape{{Blocks, 1, 1}, {64, 1, 1}};
    if (!All.compare(kernelHandle(1), Shape, Values, Lines))
      All.add(kernelHandle(1), "k", std::vector<size_t>{Words.size()}, Shape, Values, Lines);
  }
  size_t Shapes = 0;
  for (unsigned Blocks = 1; Blocks <= 10; ++Blocks)
    Shapes +=
        Lines.find("shape-argument\tk\t" + std::to_string(Blocks) + ",1,1\t") != std::string::npos;
  EXPECT_EQ(Shapes, 5u) << "250 words each, until there are 1,024";
}
