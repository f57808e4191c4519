#include "Workload/KernelArguments.h"

#include "unit/Workload/WorkloadTesting.h"

using namespace carve;

namespace {
using Values = std::vector<ArgumentValue>;

/// Returns what one process says that has left \p Records.
KernelArguments processOf(const std::vector<ArgumentRecord> &Records) {
  KernelArguments Arguments;
  for (const ArgumentRecord &R : Records)
    Arguments.add(R);
  return Arguments;
}

/// Returns the record of a value of 4 bytes.
ArgumentRecord number(unsigned Parameter, uint64_t Bits) { return {"k", Parameter, 4, Bits}; }
} // namespace

TEST(KernelArguments, parametersWithOneValue_areTheSame) {
  KernelArguments A =
      processOf({{"k", 3, 8, UINT64_MAX}, number(0, 5), number(1, 7), number(1, 8)});
  EXPECT_EQ(A.same(), (Values{{0, 4, 5}, {3, 8, UINT64_MAX}}));
  EXPECT_EQ(A.print("k"),
            "argument\tk\t0\t4\t5\t0\nargument\tk\t1\t4\t7\t0\nargument\tk\t1\t4\t8\t0\n"
            "argument\tk\t3\t8\t18446744073709551615\t0\n");
}

TEST(KernelArguments, wordsOfAStructure_areComparedOneByOne) {
  KernelArguments A = processOf({{"k", 1, 4, 7, 8}, {"k", 1, 4, 5, 0}, {"k", 1, 4, 6, 4}});
  A.add(ArgumentRecord{"k", 1, 4, 9, 4});
  EXPECT_EQ(A.same(), (Values{{1, 4, 5, 0}, {1, 4, 7, 8}}));
  EXPECT_EQ(A.print("k"), "argument\tk\t1\t4\t5\t0\nargument\tk\t1\t4\t6\t4\n"
                          "argument\tk\t1\t4\t9\t4\nargument\tk\t1\t4\t7\t8\n");
  KernelArguments B = processOf({{"k", 1, 4, 5, 0}, {"k", 1, 4, 6, 4}, {"k", 1, 4, 8, 8}});
  B.merge(A);
  EXPECT_EQ(B.same(), (Values{{1, 4, 5, 0}}));
}

TEST(KernelArguments, addressThatVaries_keepsItsLowestByteIfThatStays) {
  KernelArguments A = processOf({{"k", 0, 8, 0x1200}, {"k", 0, 8, 0x3400}});
  EXPECT_EQ(A.same(), (Values{{0, 1, 0}}));
  EXPECT_EQ(processOf({{"k", 0, 8, 0x1210}, {"k", 0, 8, 0x3410}}).same(), (Values{{0, 1, 0x10}}));
  EXPECT_EQ(processOf({{"k", 0, 8, 0x1200}, {"k", 0, 8, 0x3410}}).same(), Values());
  // The third value has another byte.
  KernelArguments B = processOf({{"k", 0, 8, 0x1200}, {"k", 0, 8, 0x3400}, {"k", 0, 1, 0x10}});
  EXPECT_EQ(B.same(), Values());
  EXPECT_EQ(B.print("k"), "argument\tk\t0\t8\t4608\t0\nargument\tk\t0\t8\t13312\t0\n"
                          "argument\tk\t0\t1\t16\t0\n");
  A.merge(processOf({{"k", 0, 8, 0x5600}}));
  EXPECT_EQ(A.same(), (Values{{0, 1, 0}}));
  A.merge(B);
  EXPECT_EQ(A.same(), Values());
  EXPECT_EQ(processOf({{"k", 0, 8, 5}, {"k", 0, 1, 5}}).same(), (Values{{0, 8, 5}}))
      << "the byte is the first value's";
}

TEST(KernelArguments, addresses_areApartIfNoLaunchSaysOtherwise) {
  using enum KernelArguments::Match;
  KernelArguments A = processOf({{"k", 0, 8, 0x1200}, {"k", 1, 8, 0x3400}, {"k", 2, 8, 0x5600}});
  EXPECT_EQ(A.apart({{0, 0}, {1, 0}}), Never) << "nobody has said that these are addresses";
  EXPECT_EQ(A.apart({}), Always);
  for (unsigned Parameter : {0, 1, 2})
    A.add(PointerRecord{"k", Parameter, 0});
  A.add(AliasRecord{"k", 1, 0, 2, 0});
  EXPECT_EQ(A.apart({{0, 0}, {1, 0}}), Always);
  EXPECT_EQ(A.apart({{0, 0}, {1, 0}, {2, 0}}), Sometimes);
  EXPECT_EQ(A.apart({{0, 0}, {0, 8}}), Never);
  EXPECT_NE(A.print("k").find("pointer\tk\t2\t0\nalias\tk\t1\t0\t2\t0\n"), std::string::npos);
  // In another process one is no address, and one is of no plain memory later.
  KernelArguments B = processOf({{"k", 0, 8, 0x1200}, {"k", 1, 8, 0}, {"k", 2, 8, 0x5600}});
  B.add(PointerRecord{"k", 0, 0});
  B.add(PointerRecord{"k", 2, 0});
  B.add(AliasRecord{"k", 0, 0, 0, 0});
  A.merge(B);
  EXPECT_EQ(A.apart({{1, 0}, {2, 0}}), Never);
  EXPECT_EQ(A.apart({{0, 0}, {2, 0}}), Sometimes);
  EXPECT_EQ(A.apart({{2, 0}}), Always);
  A.add(ArgumentRecord{"k", 0, 0, 0, 0});
  EXPECT_EQ(A.apart({{2, 0}}), Sometimes) << "a launch could not be read";
}

TEST(KernelArguments, launchThatCouldNotBeRead_leavesNothingKnown) {
  KernelArguments A = processOf({number(0, 5), {"k", 0, 0, 0}});
  EXPECT_EQ(A.same(), Values());
  EXPECT_EQ(A.print("k"), "argument\tk\t0\t0\t0\t0\n");
  KernelArguments B = processOf({number(0, 5)});
  B.merge(A);
  EXPECT_EQ(B.same(), Values());
  B.merge(processOf({number(0, 5)}));
  EXPECT_EQ(B.same(), Values()) << "what a later process says does not help";
}

TEST(KernelArguments, processesWithOtherValues_makeTheParameterVary) {
  KernelArguments A = processOf({number(0, 5), number(1, 6), number(2, 7)});
  A.merge(processOf({number(0, 5), number(1, 9), number(2, 7), number(2, 8)}));
  EXPECT_EQ(A.same(), (Values{{0, 4, 5}}));
  A.merge(processOf({number(0, 6), number(1, 6), number(2, 7)}));
  EXPECT_EQ(A.same(), Values());
}

TEST(KernelArguments, processesWithOtherParameters_leaveNothingKnown) {
  const std::vector<ArgumentRecord> First = {number(0, 5), number(1, 6)};
  for (const std::vector<ArgumentRecord> &Second : {std::vector<ArgumentRecord>{number(0, 5)},
                                                    {number(0, 5), {"k", 1, 8, 6}},
                                                    {number(0, 5), number(2, 6)},
                                                    {number(0, 5), number(1, 6), number(2, 6)}}) {
    KernelArguments A = processOf(First);
    A.merge(processOf(Second));
    EXPECT_EQ(A.same(), Values());
  }
  EXPECT_EQ(processOf({number(0, 5), {"k", 0, 8, 5}}).same(), Values()) << "in one process";
}

namespace {
/// Returns the record of a value of 4 bytes at launches with \p Blocks blocks.
ShapeArgumentRecord numberIn(unsigned Blocks, unsigned Parameter, uint64_t Bits) {
  return {{"k", Parameter, 4, Bits}, {Blocks, 1, 1}, {64, 1, 1}};
}
LaunchShape blocks(unsigned Blocks) { return {{Blocks, 1, 1}, {64, 1, 1}}; }
} // namespace

TEST(KernelArguments, parametersWithOneValueInAShape_areTheSameThere) {
  KernelArguments A = processOf({number(0, 5), number(1, 7), number(1, 8)});
  for (const ShapeArgumentRecord &R : {numberIn(2, 0, 5), numberIn(2, 1, 7), numberIn(3, 0, 5),
                                       numberIn(3, 1, 8), numberIn(3, 1, 7)})
    A.add(R);
  EXPECT_EQ(A.sameIn(blocks(2)), (Values{{0, 4, 5}, {1, 4, 7}}));
  EXPECT_EQ(A.sameIn(blocks(3)), (Values{{0, 4, 5}}));
  EXPECT_EQ(A.sameIn(blocks(4)), (Values{{0, 4, 5}})) << "what all launches have";
  LaunchShape Other = blocks(2);
  Other.Block[0] = 32;
  EXPECT_EQ(A.sameIn(Other), (Values{{0, 4, 5}}));
  ProbeRecord R;
  ASSERT_EQ(messageOf(readProbeFile(ProbeHead + A.print("k") + "end\n", "p", R)), "");
  EXPECT_EQ(R.sameArguments("k", blocks(2)), A.sameIn(blocks(2)));
  EXPECT_EQ(R.sameArguments("k", blocks(3)), A.sameIn(blocks(3)));
  EXPECT_EQ(R.sameArguments("l", blocks(2)), Values());
}

TEST(KernelArguments, wordsAndAddressesInAShape_areComparedAsInAllLaunches) {
  KernelArguments A = processOf({{"k", 0, 8, 0x1200}, {"k", 1, 4, 5, 0}, {"k", 1, 4, 6, 4}});
  for (const ArgumentRecord &R :
       std::vector<ArgumentRecord>{{"k", 0, 8, 0x3410}, {"k", 1, 4, 7, 4}})
    A.add(R);
  for (const KernelArgument &R : std::vector<KernelArgument>{
           {"k", 0, 8, 0x1200}, {"k", 0, 8, 0x2200}, {"k", 1, 4, 5, 0}, {"k", 1, 4, 6, 4}})
    A.add(ShapeArgumentRecord{R, {2, 1, 1}, {64, 1, 1}});
  EXPECT_EQ(A.same(), (Values{{1, 4, 5, 0}}));
  EXPECT_EQ(A.sameIn(blocks(2)), (Values{{0, 1, 0}, {1, 4, 5, 0}, {1, 4, 6, 4}}));
  EXPECT_NE(A.print("k").find("shape-argument\tk\t2,1,1\t64,1,1\t1\t4\t6\t4\n"), std::string::npos);
}

TEST(KernelArguments, processesWithOtherValuesInAShape_makeTheParameterVaryThere) {
  KernelArguments A = processOf({number(0, 5)}), B = processOf({number(0, 5), number(0, 6)});
  A.add(numberIn(2, 0, 5));
  B.add(numberIn(2, 0, 6));
  B.add(numberIn(3, 0, 5));
  A.merge(B);
  EXPECT_EQ(A.sameIn(blocks(2)), Values());
  EXPECT_EQ(A.sameIn(blocks(3)), (Values{{0, 4, 5}}));
  A.merge(processOf({{"k", 0, 0, 0}}));
  EXPECT_EQ(A.sameIn(blocks(3)), Values()) << "the arguments of a launch are not known";
}

TEST(KernelArguments, match_saysAtWhichLaunches) {
  using Match = KernelArguments::Match;
  const LaunchShape Any = blocks(9), Shape = blocks(2);
  KernelArguments A = processOf({number(0, 5), number(1, 7), number(1, 8)});
  EXPECT_EQ(A.match({0, 4, 5}, Any), Match::Always);
  EXPECT_EQ(A.match({0, 4, 6}, Any), Match::Never);
  EXPECT_EQ(A.match({0, 8, 5}, Any), Match::Never) << "of another size";
  EXPECT_EQ(A.match({2, 4, 5}, Any), Match::Never) << "there is no such parameter";
  EXPECT_EQ(A.match({1, 4, 8}, Any), Match::Sometimes);
  EXPECT_EQ(A.match({1, 4, 9}, Any), Match::Sometimes) << "a third value is not recorded";
  EXPECT_EQ(processOf({{"k", 0, 0, 0}}).match({0, 4, 5}, Any), Match::Sometimes) << "not known";
  A.add(numberIn(2, 1, 7));
  EXPECT_EQ(A.match({1, 4, 7}, Shape), Match::Always);
  EXPECT_EQ(A.match({1, 4, 8}, Shape), Match::Never) << "not in this shape";
  EXPECT_EQ(A.match({1, 4, 8}, Any), Match::Sometimes);
}

TEST(KernelArguments, partOfAWord_isMatchedWithItsBits) {
  using Match = KernelArguments::Match;
  const LaunchShape Any = blocks(9);
  KernelArguments A = processOf({{"k", 0, 8, 0x1200}, {"k", 1, 4, 0x50006, 8}});
  EXPECT_EQ(A.match({1, 2, 5, 10}, Any), Match::Always);
  EXPECT_EQ(A.match({1, 2, 5, 8}, Any), Match::Never);
  EXPECT_EQ(A.match({1, 4, 0x50006, 10}, Any), Match::Never) << "it ends behind all words";
  EXPECT_EQ(A.match({1, 4, 0x50006, 4}, Any), Match::Never) << "there is no such word";
  A.add(ArgumentRecord{"k", 1, 4, 7, 12});
  EXPECT_EQ(A.match({1, 8, 0x700050006, 8}, Any), Match::Always) << "a value of two words";
  EXPECT_EQ(A.match({1, 8, 0x800050006, 8}, Any), Match::Never);
  A.add(ArgumentRecord{"k", 1, 4, 8, 12});
  EXPECT_EQ(A.match({1, 8, 0x700050006, 8}, Any), Match::Sometimes);
  A.add(ArgumentRecord{"k", 0, 8, 0x3400});
  EXPECT_EQ(A.match({0, 1, 0}, Any), Match::Always) << "both addresses are aligned";
  EXPECT_EQ(A.match({0, 1, 8}, Any), Match::Never);
  EXPECT_EQ(A.match({0, 8, 0x1200}, Any), Match::Sometimes);
}
