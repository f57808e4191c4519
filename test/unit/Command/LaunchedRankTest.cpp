#include "Command/LaunchedRank.h"

#include "gtest/gtest.h"

#include <map>

using namespace carve;

static std::optional<LaunchedRank> rankOf(const std::map<std::string, std::string> &Variables) {
  return launchedRank([&](llvm::StringRef Name) -> std::optional<std::string> {
    auto Found = Variables.find(Name.str());
    return Found == Variables.end() ? std::nullopt : std::optional(Found->second);
  });
}

static std::string textOf(const std::map<std::string, std::string> &Variables) {
  std::optional<LaunchedRank> R = rankOf(Variables);
  return R ? rankText(*R) + (R->Launch.empty() ? "" : " in " + R->Launch) : "none";
}

TEST(LaunchedRank, launchers_areRecognised) {
  EXPECT_EQ(textOf({{"OMPI_COMM_WORLD_RANK", "3"},
                    {"OMPI_COMM_WORLD_SIZE", "8"},
                    {"PMIX_NAMESPACE", "ns@1"},
                    {"PMIX_RANK", "3"}}),
            "rank 3 of 8 (OMPI_COMM_WORLD_RANK) in OMPI_COMM_WORLD_RANK ns@1 ");
  EXPECT_EQ(textOf({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}), "rank 0 of 2 (PMI_RANK)");
  EXPECT_EQ(textOf({{"SLURM_PROCID", "1"},
                    {"SLURM_NTASKS", "2"},
                    {"SLURM_JOB_ID", "77"},
                    {"SLURM_STEP_ID", "5"}}),
            "rank 1 of 2 (SLURM_PROCID) in SLURM_PROCID 77 5");
  EXPECT_EQ(textOf({{"PMIX_RANK", "4"}, {"PMIX_NAMESPACE", "x"}}),
            "rank 4 (PMIX_RANK) in PMIX_RANK x ");
  EXPECT_EQ(textOf({{"RANK", "1"},
                    {"WORLD_SIZE", "2"},
                    {"TORCHELASTIC_RUN_ID", "none"},
                    {"MASTER_PORT", "29500"}}),
            "rank 1 of 2 (RANK) in RANK none 29500");
}

TEST(LaunchedRank, noRankOrAlone_isNone) {
  EXPECT_EQ(textOf({}), "none");
  EXPECT_EQ(textOf({{"RANK", "general"}, {"WORLD_SIZE", "2"}}), "none");
  EXPECT_EQ(textOf({{"RANK", "1"}, {"WORLD_SIZE", "2"}}), "none") << "common words";
  EXPECT_EQ(textOf({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}), "none");
  EXPECT_EQ(textOf({{"PMI_RANK", "one"}, {"PMI_SIZE", "2"}}), "none");
}

/// In a batch script of Slurm every process has SLURM_PROCID=0, those that mpirun starts included.
TEST(LaunchedRank, launcherInsideAnother_innerRankCounts) {
  EXPECT_EQ(
      rankOf({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"PMI_RANK", "2"}, {"PMI_SIZE", "4"}})
          ->Rank,
      2u);
}
