#include "Command/LaunchedRank.h"

using namespace carve;

namespace {

/// The variables of one launcher. A rank counts only if all variables that are named are set.
struct Launcher {
  llvm::StringLiteral Rank, Size;
  /// What distinguishes one launch from another: two variables, of which the second may be empty.
  llvm::StringLiteral Launch, Step;
};

// One launcher may run under another, and then both have set their variables. The rank of the inner
// one counts, so those come first that are usually inside.
constexpr Launcher Launchers[] = {
    // torchrun. Its names are common words, so it counts only with all three.
    {"RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID", "MASTER_PORT"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE", ""},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "PMI_ID", ""},
    {"PALS_RANKID", "", "PALS_APID", ""},
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_JOB_ID", ""},
    {"PMIX_RANK", "", "PMIX_NAMESPACE", ""},
    {"PMI_RANK", "PMI_SIZE", "PMI_JOBID", ""},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID", "SLURM_STEP_ID"},
};

} // namespace

static std::optional<unsigned> numberIn(GetEnv Env, llvm::StringRef Name) {
  unsigned Number = 0;
  std::optional<std::string> Text = Name.empty() ? std::nullopt : Env(Name);
  if (!Text || llvm::StringRef(*Text).getAsInteger(10, Number))
    return std::nullopt;
  return Number;
}

static std::string textIn(GetEnv Env, llvm::StringRef Name) {
  return Name.empty() ? "" : Env(Name).value_or("");
}

std::optional<LaunchedRank> carve::launchedRank(GetEnv Env) {
  for (const Launcher &L : Launchers) {
    std::optional<unsigned> Rank = numberIn(Env, L.Rank), Size = numberIn(Env, L.Size);
    const std::string Launch = textIn(Env, L.Launch);
    if (!Rank || (!L.Size.empty() && !Size) || (L.Rank == "RANK" && Launch.empty()))
      continue;
    if (Size && *Size <= 1)
      return std::nullopt;
    LaunchedRank R{*Rank, Size, L.Rank.str(), ""};
    if (!Launch.empty())
      R.Launch = L.Rank.str() + " " + Launch + " " + textIn(Env, L.Step);
    return R;
  }
  return std::nullopt;
}

std::string carve::rankText(const LaunchedRank &R) {
  return "rank " + std::to_string(R.Rank) + (R.Size ? " of " + std::to_string(*R.Size) : "") +
         " (" + R.Variable + ")";
}
