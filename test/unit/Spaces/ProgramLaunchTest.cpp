#include "Spaces/ProgramLaunch.h"

#include "gtest/gtest.h"

using namespace carve;

namespace {

class ProgramLaunchTest : public testing::Test {
protected:
  std::vector<MacroExpression> said(llvm::StringRef Text) {
    return llvm::cantFail(parseExpressionList(Text, "--x", {"TILE"}, 3));
  }
  std::string mistake() {
    return llvm::toString(programLaunch(Said, Values, Entry, Traced).takeError());
  }
  ProgramLaunch launch() { return llvm::cantFail(programLaunch(Said, Values, Entry, Traced)); }

  LaunchExpressions Said;
  std::vector<MacroValue> Values = {{"TILE", "16"}};
  PtxEntry Entry;
  TracedLaunches Traced;
};

} // namespace

TEST_F(ProgramLaunchTest, noInformation_givesBlockOf256) {
  ProgramLaunch L = launch();
  EXPECT_EQ(L.Shape.threadsPerBlock(), 256u);
  EXPECT_EQ(L.Block, LaunchSource::Unknown);
  EXPECT_EQ(L.threads(), 1);
}

TEST_F(ProgramLaunchTest, expressions_precedeDirectivesAndTrace) {
  Entry.Name = "k";
  ProgramLaunch Seen;
  Seen.Shape.Block = {64, 1, 1};
  Seen.Shape.Grid = {10, 1, 1};
  Seen.Launches = 3;
  Seen.Block = Seen.Grid = LaunchSource::Trace;
  Traced["k"] = Seen;
  EXPECT_EQ(launch().Shape.Block[0], 64u);
  EXPECT_EQ(launch().threads(), 64 * 10 * 3);
  EXPECT_EQ(launch().Block, LaunchSource::Trace);
  Entry.Directives.MaxNTid = {128, 1, 1};
  EXPECT_EQ(launch().Shape.Block[0], 128u);
  EXPECT_EQ(launch().Block, LaunchSource::Configuration);
  Said.Block = said("TILE,TILE");
  EXPECT_EQ(launch().Shape.Block, (std::array<unsigned, 3>{16, 16, 1}));
  Said.Grid = said("4096/TILE");
  EXPECT_EQ(launch().threads(), 256.0 * 256 * 3);
  Said.Launches = said("TILE/4");
  EXPECT_EQ(launch().threads(), 256.0 * 256 * 4);
  Said.DynamicSmem = said("TILE*1024");
  EXPECT_EQ(launch().Shape.DynamicSmemBytes, 16384u);
}

TEST_F(ProgramLaunchTest, onlyTracedKernel_givesLaunchForAnotherName) {
  ProgramLaunch Seen;
  Seen.Shape.Block = {32, 1, 1};
  Traced["kernel16"] = Seen;
  Entry.Name = "kernel32";
  EXPECT_EQ(launch().Shape.Block[0], 32u);
  Traced["another"] = Seen;
  EXPECT_EQ(launch().Shape.Block[0], 256u);
}

TEST_F(ProgramLaunchTest, impossibleLaunch_isNamed) {
  Said.Block = said("TILE*3,TILE*2");
  EXPECT_EQ(mistake(), "a block of 1536 threads, expected at most 1024");
  Said.Block = said("TILE-16");
  EXPECT_EQ(mistake(), "--block 'TILE-16' is 0, expected 1 to 1024");
  Said.Block = said("1/(TILE-16)");
  EXPECT_EQ(mistake(), "--x '1/(TILE-16)', column 2: division by 0");
}
