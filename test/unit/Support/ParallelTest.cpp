#include "Support/Parallel.h"

#include "gtest/gtest.h"

#include <atomic>
#include <vector>

using namespace carve;

TEST(RunInParallel, tasks_runInParallel_eachRunsOnce) {
  for (size_t Count : {0, 1, 100}) {
    std::vector<std::atomic<int>> Done(Count);
    runInParallel(Count, [&](size_t I) { ++Done[I]; });
    for (std::atomic<int> &D : Done)
      EXPECT_EQ(D, 1);
  }
}
