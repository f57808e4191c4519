// Programs on the stand-in driver do the same without the probe and with it.
#include "unit/Probe/StandInRun.h"

#include <gtest/gtest.h>

using namespace carve;
using namespace carve::probe::test;

namespace {
class StandIn : public testing::TestWithParam<const char *> {};

const char *const Scenarios[] = {"deterministic", "in-place", "atomics",     "permutation",
                                 "streams",       "threads",  "contexts",    "capture",
                                 "full-memory",   "managed",  "host-mapped", "host-hidden",
                                 "mapped",        "forks",    "early-exit"};

std::string nameOf(const testing::TestParamInfo<const char *> &Info) {
  std::string Name = Info.param;
  std::erase(Name, '-');
  return Name;
}
} // namespace

TEST_P(StandIn, TracedProgramDoesTheSame) {
  StandInRun Run(GetParam());
  EXPECT_EQ(Run.Plain.Stderr, "") << "a sanitizer reports here";
  EXPECT_EQ(Run.Trace.Stderr, "") << "a sanitizer reports here";
  EXPECT_EQ(Run.Trace.Stdout, Run.Plain.Stdout);
  EXPECT_EQ(Run.Trace.ExitStatus, Run.Plain.ExitStatus);
  EXPECT_EQ(Run.Plain.ExitStatus, GetParam() == std::string("early-exit") ? 5 : 0);
  EXPECT_TRUE(Run.Traced.whole());
  EXPECT_FALSE(Run.Traced.of("kernel").empty());
}

INSTANTIATE_TEST_SUITE_P(All, StandIn, testing::ValuesIn(Scenarios), nameOf);
