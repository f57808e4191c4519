#include "Tune/Job/JobBuild.h"

#include "unit/Tune/TuneTesting.h"

using namespace carve;

TEST(JobBuild, ofAJob_hasPlacesAndNothingBuilt) {
  TuningJob Job = sampleJob();
  JobBuild Built(Job);
  ASSERT_EQ(Built.Kernels.size(), 2u);
  ASSERT_EQ(Built.Modules.size(), 1u);
  EXPECT_EQ(Built.Kernels[0].Default.RegsPerThread, Job.Kernels[0].Region.Default.RegsPerThread);
  EXPECT_EQ(Built.Kernels[0].timedTogether(), 0u);
  EXPECT_TRUE(Built.Kernels[0].LeftReason.empty());
  EXPECT_TRUE(Built.Modules[0].Cubin.empty());
  EXPECT_TRUE(Built.Links.empty());
}

TEST(JobBuild, timedTogether_countsVariantsInTheModule) {
  JobBuild Built = sampleBuild(sampleJob());
  EXPECT_EQ(Built.Kernels[0].timedTogether(), 4u);
  Built.Kernels[0].Variants[3].InModule = false;
  EXPECT_EQ(Built.Kernels[0].timedTogether(), 3u);
}

TEST(JobBuild, variantNames_onlyTimed_isItsPurpose) {
  JobBuild Built = sampleBuild(sampleJob());
  Built.Kernels[0].Variants[3].Purpose = "memory-only";
  EXPECT_EQ(namesOf(Built.Kernels[0].Variants),
            (std::vector<std::string>{"default", "control", "r32", "memory-only"}));
}
