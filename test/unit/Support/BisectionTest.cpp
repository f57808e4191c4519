#include "Support/Bisection.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

using namespace carve;

namespace {

using Numbers = std::vector<size_t>;

/// What is found if a step with \p Count things fails with any of \p Bad. \p Tries becomes the
/// number of tries.
Numbers found(size_t Count, const std::set<size_t> &Bad, unsigned &Tries) {
  std::atomic<unsigned> Made = 0;
  Numbers Result = findFailing(Count, [&](llvm::ArrayRef<size_t> Part) {
    ++Made;
    return llvm::any_of(Part, [&](size_t Index) { return Bad.count(Index) > 0; });
  });
  Tries = Made;
  return Result;
}

} // namespace

TEST(Bisection, failing_areFoundWithFewTries) {
  unsigned Tries = 0;
  for (size_t Count : {1, 2, 3, 7, 64})
    for (size_t Bad = 0; Bad < Count; ++Bad)
      EXPECT_EQ(found(Count, {Bad}, Tries), Numbers{Bad}) << Count;
  EXPECT_EQ(Tries, 12u); // Two for each of the six levels below 64.
  EXPECT_EQ(found(50, {3, 4, 49}, Tries), (Numbers{3, 4, 49}));
  EXPECT_LE(Tries, 36u);
}

TEST(Bisection, allFail_allAreFound) {
  unsigned Tries = 0;
  EXPECT_EQ(found(5, {0, 1, 2, 3, 4}, Tries), (Numbers{0, 1, 2, 3, 4}));
}

TEST(Bisection, nothingFailsAlone_nothingIsFound) {
  // Two of them do not get on.
  EXPECT_EQ(findFailing(8,
                        [](llvm::ArrayRef<size_t> Part) {
                          return llvm::is_contained(Part, 1u) && llvm::is_contained(Part, 6u);
                        }),
            Numbers());
  EXPECT_EQ(findFailing(1, [](llvm::ArrayRef<size_t>) { return false; }), Numbers());
  EXPECT_EQ(findFailing(0, [](llvm::ArrayRef<size_t>) { return true; }), Numbers());
}
