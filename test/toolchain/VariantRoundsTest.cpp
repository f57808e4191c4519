// The modules that timing runs leave to the whole runs after them.
#include "BuiltTools.h"

#include "Tune/Variants/VariantRounds.h"

#include "llvm/ADT/StringExtras.h"

using namespace carve;

namespace {

class VariantRoundsTest : public BuiltToolsTest {
protected:
  /// The trace that is recorded in three.samples.
  static ProbeRecord trace();
};

ProbeRecord VariantRoundsTest::trace() {
  std::string Samples =
      llvm::cantFail(readFile(CARVE_TEST_INPUTS "/samples/three.samples", FileLimit::None));
  std::string Lines;
  for (llvm::StringRef Line : llvm::split(llvm::StringRef(Samples), "\n"))
    if (Line.consume_front("probe\t"))
      Lines += (Line + "\n").str();
  ProbeRecord Trace;
  EXPECT_EQ(llvm::toString(readProbeFile(Lines, "trace", Trace)), "");
  return Trace;
}

} // namespace

TEST_F(VariantRoundsTest, modulesHoldWhatWholeRunsNeed_areKeptIfTheyMay) {
  build({"-O3", "-arch=sm_90", "--no-compress", "-c", "three.cu", "-o", "three.o"});
  TuningOptions Options;
  Options.DevicesDir = CARVE_SOURCE_DIR "/share/carve-nvcc/devices";
  Options.Effort = 0;
  UnitStore Store = store();
  JobContext Context{Store, Tools, Runner, Options};
  JobSources Sources;
  llvm::Expected<TuningJob> Job = prepareJob(trace(), Context, /*AllUnits=*/true, Sources);
  ASSERT_TRUE(bool(Job)) << llvm::toString(Job.takeError());
  ASSERT_EQ(Job->Modules.size(), 1u);
  ASSERT_GE(Job->Kernels.size(), 2u);
  JobBuild Built(*Job);
  VariantRounds Rounds(*Job, Sources, Context, Built);
  ASSERT_TRUE(Rounds.next({std::vector<size_t>(Job->Kernels.size(), 2), std::nullopt}));
  VariantSets All = Rounds.added();
  ASSERT_FALSE(All[0].empty());
  ASSERT_FALSE(All[1].empty());
  Rounds.select(All);
  Rounds.assemble();
  const std::string &Cubin = Built.Modules[0].Cubin, Whole = Cubin;
  ASSERT_NE(Whole, "");

  VariantSets One(All.size());
  One[0] = {All[0].front()};
  Rounds.settleOn(One, /*MayKeep=*/true);
  EXPECT_TRUE(Cubin == Whole) << "it holds the variant";
  EXPECT_EQ(Built.Kernels[0].timedTogether(), 3u) << "with the default and its copy";
  EXPECT_EQ(Built.Kernels[1].timedTogether(), 0u);

  Rounds.settleOn(One, /*MayKeep=*/false);
  EXPECT_LT(Cubin.size(), Whole.size()) << "the other clones are gone";
  const std::string Small = Cubin;
  Rounds.settleOn(All, /*MayKeep=*/true);
  EXPECT_NE(Cubin, Small) << "a variant of the second kernel was missing";

  // Marks alone do not tell what is in a module.
  Rounds.settleOn(One, /*MayKeep=*/false);
  Rounds.select(All);
  Rounds.settleOn(All, /*MayKeep=*/true);
  EXPECT_EQ(Cubin.size(), Whole.size());

  Rounds.settleOn(VariantSets(All.size()), /*MayKeep=*/true);
  EXPECT_EQ(Cubin, "") << "nothing of it is timed any more, so the program's own image stays";
}
