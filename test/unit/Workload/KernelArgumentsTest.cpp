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
  EXPECT_EQ(A.print("k"), "argument\tk\t0\t4\t5\nargument\tk\t1\t4\t7\nargument\tk\t1\t4\t8\n"
                          "argument\tk\t3\t8\t18446744073709551615\n");
}

TEST(KernelArguments, launchThatCouldNotBeRead_leavesNothingKnown) {
  KernelArguments A = processOf({number(0, 5), {"k", 0, 0, 0}});
  EXPECT_EQ(A.same(), Values());
  EXPECT_EQ(A.print("k"), "argument\tk\t0\t0\t0\n");
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

TEST(KernelArguments, match_saysAtWhichLaunches) {
  using Match = KernelArguments::Match;
  KernelArguments A = processOf({number(0, 5), number(1, 7), number(1, 8)});
  EXPECT_EQ(A.match({0, 4, 5}), Match::Always);
  EXPECT_EQ(A.match({0, 4, 6}), Match::Never);
  EXPECT_EQ(A.match({0, 8, 5}), Match::Never) << "of another size";
  EXPECT_EQ(A.match({2, 4, 5}), Match::Never) << "there is no such parameter";
  EXPECT_EQ(A.match({1, 4, 8}), Match::Sometimes);
  EXPECT_EQ(A.match({1, 4, 9}), Match::Sometimes) << "a third value is not recorded";
  EXPECT_EQ(processOf({{"k", 0, 0, 0}}).match({0, 4, 5}), Match::Sometimes) << "not known";
}
