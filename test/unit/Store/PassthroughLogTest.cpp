#include "Store/PassthroughLog.h"
#include "Store/StoreUpkeep.h"

#include "Store/UnitStore.h"
#include "StoreTesting.h"

#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace carve;

class PassthroughLogTest : public StoreTest {};

using Counts = std::map<std::string, uint64_t>;

TEST_F(PassthroughLogTest, passthroughs_counted_areSummedByReason) {
  UnitStore Store(Root);
  Store.countPassthrough("device-lto");
  Store.countPassthrough("no-device-code");
  Store.countPassthrough("device-lto");
  Store.countPassthrough("two\nlines");
  EXPECT_EQ(storeStats(Store).Passthroughs,
            (Counts{{"device-lto", 2}, {"no-device-code", 1}, {"two lines", 1}}));
}

TEST_F(PassthroughLogTest, malformedLines_read_areIgnored) {
  UnitStore Store(Root);
  Store.countPassthrough("a");
  std::ofstream(Root + "/passthroughs.log", std::ios::app)
      << "\nno count\n-3 b\n99999999999999999999999 c\n4 \n7 d";
  EXPECT_EQ(readPassthroughs(Root), (Counts{{"a", 1}, {"d", 7}}));
}

TEST_F(PassthroughLogTest, longLog_appendedTo_isCompacted) {
  UnitStore Store(Root);
  Store.countPassthrough("a");
  std::string Long;
  while (Long.size() <= 1 << 20)
    Long += "1 some-reason\n3 other\n";
  std::ofstream(Root + "/passthroughs.log", std::ios::app) << Long;
  uint64_t Lines = Long.size() / 22;
  Store.countPassthrough("b");
  EXPECT_LT(std::filesystem::file_size(Root + "/passthroughs.log"), 100u);
  EXPECT_EQ(files().size(), 1u);
  EXPECT_EQ(readPassthroughs(Root),
            (Counts{{"a", 1}, {"b", 1}, {"some-reason", Lines}, {"other", 3 * Lines}}));
}

TEST_F(PassthroughLogTest, compaction_interrupted_stillCounts) {
  UnitStore Store(Root);
  Store.countPassthrough("a");
  std::filesystem::rename(Root + "/passthroughs.log", Root + "/passthroughs.log.carve-01234567");
  Store.countPassthrough("a");
  EXPECT_EQ(readPassthroughs(Root), (Counts{{"a", 2}}));
}

TEST_F(PassthroughLogTest, parallelProcesses_counting_loseNothing) {
  constexpr int Processes = 64, Each = 50;
  std::vector<pid_t> Children;
  for (int Index = 0; Index < Processes; ++Index) {
    pid_t Child = fork();
    ASSERT_GE(Child, 0);
    if (Child == 0) {
      UnitStore Store(Root);
      for (int I = 0; I < Each; ++I)
        Store.countPassthrough(I % 2 ? "odd" : "even");
      _exit(0);
    }
    Children.push_back(Child);
  }
  for (pid_t Child : Children)
    waitpid(Child, nullptr, 0);
  EXPECT_EQ(readPassthroughs(Root),
            (Counts{{"even", Processes * Each / 2}, {"odd", Processes * Each / 2}}));
}
