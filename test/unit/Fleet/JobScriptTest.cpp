#include "Fleet/JobScript.h"

#include "Support/Files.h"
#include "unit/ResultTesting.h"

using namespace carve;

static FleetPlan planWithShards(size_t Shards) {
  FleetPlan Plan;
  Plan.Shards.resize(Shards);
  return Plan;
}

TEST(JobScript, task_tunesItsShardOnAsManyNodesAsMustAgree) {
  EXPECT_EQ(valueOf(jobScript("#SBATCH --array=@ARRAY@ --nodes=@NODES@\n#mail: a@b\n@RUN@\n", "t",
                              planWithShards(200), "/data/p", "/bin/carve")),
            "#SBATCH --array=0-199 --nodes=2\n#mail: a@b\n"
            "srun --nodes=2 --ntasks=2 --ntasks-per-node=1 --wait=0 /bin/carve fleet run "
            "/data/p/shard-\"$SLURM_ARRAY_TASK_ID\"\n");
}

TEST(JobScript, programOnSeveralNodes_hasATaskForEachNodeThatMustAgree) {
  FleetPlan Plan = planWithShards(10);
  Plan.ProgramNodes = 4;
  EXPECT_EQ(valueOf(jobScript("@ARRAY@ @NODES@ @RUN@", "t", Plan, "/p", "/carve")),
            "0-19 4 /carve fleet run /p/shard-$((SLURM_ARRAY_TASK_ID % 10))\n");
}

TEST(JobScript, unknownPlace_isNamed) {
  EXPECT_EQ(messageOf(jobScript("@TIME@", "job.sh.in", planWithShards(1), "/p", "/c")),
            "carve fleet plan: job.sh.in has @TIME@, expected @ARRAY@, @NODES@, @FOLDER@ or @RUN@");
}

TEST(JobScript, pathThatWouldNeedQuotes_isRefused) {
  EXPECT_NE(
      messageOf(jobScript("", "t", planWithShards(1), "/my data", "/c")).find("has ' ', expected"),
      std::string::npos);
  EXPECT_NE(messageOf(jobScript("", "t", planWithShards(1), "/p%a", "/c")), "");
}

TEST(JobScript, ownTemplate_isFilledCompletely) {
  std::string Template = valueOf(readFile(CARVE_SOURCE_DIR "/share/carve-nvcc/slurm/job.sh.in"));
  std::string Script =
      valueOf(jobScript(Template, "t", planWithShards(3), "/data/p", "/bin/carve"));
  EXPECT_EQ(Script.find('@'), std::string::npos) << Script;
  EXPECT_NE(Script.find("#SBATCH --array=0-2\n#SBATCH --nodes=2\n"), std::string::npos) << Script;
  EXPECT_NE(Script.find("#SBATCH --output=/data/p/log/%a.txt\n"), std::string::npos) << Script;
  EXPECT_NE(Script.find("\nexec srun "), std::string::npos) << Script;
}
