#include "Compile/DriverOptions.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

#include <map>

using namespace carve;
using Words = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

/// Returns an environment that holds only \p Values.
static auto environmentOf(const Variables &Values) {
  return [Values](llvm::StringRef Name) -> std::optional<std::string> {
    auto Found = Values.find(Name.str());
    return Found == Values.end() ? std::nullopt : std::optional(Found->second);
  };
}

static DriverOptions taken(const Words &Argv, const Variables &Env = {},
                           const Words &Expected = {}) {
  Words ForNvcc;
  llvm::Expected<DriverOptions> O = takeDriverOptions(Argv, environmentOf(Env), ForNvcc);
  EXPECT_EQ(ForNvcc, Expected);
  if (O)
    return *O;
  ADD_FAILURE() << llvm::toString(O.takeError());
  return {};
}

static std::string failure(const Words &Argv, const Variables &Env = {}) {
  Words ForNvcc;
  llvm::Expected<DriverOptions> O = takeDriverOptions(Argv, environmentOf(Env), ForNvcc);
  if (O)
    return "";
  llvm::Error E = O.takeError();
  EXPECT_TRUE(E.isA<UsageError>());
  return llvm::toString(std::move(E));
}

TEST(DriverOptions, options_none_haveDefaults) {
  DriverOptions O = taken({});
  EXPECT_EQ(O.Run, RunMode::Auto);
  EXPECT_EQ(O.TimeoutS, 60);
  EXPECT_EQ(O.MaxRuns, 400u);
  EXPECT_EQ(O.BudgetS, 0);
  EXPECT_EQ(O.Mode, ModeRequest::Auto);
  EXPECT_EQ(O.Scope, TuningScope::Kernel);
  EXPECT_EQ(O.Effort, 2u);
  EXPECT_EQ(O.Domain, LaunchDomain::Preserve);
  EXPECT_TRUE(O.ProfilePath.empty() && O.LogPath.empty() && O.Samples.empty());
  EXPECT_FALSE(O.Help || O.Version);
}

TEST(DriverOptions, nvccsWords_taken_areUnchanged) {
  Words Nvcc = {"-O3",     "",       "a b",           "-DX=\"$Y\"",    "--", "-carve-run", "-o",
                "--carve", "carve-", "-Xcompiler=-g", "--options-file"};
  Words Argv = Nvcc;
  Argv.insert(Argv.begin() + 3, "--carve-run=none");
  Argv.push_back("--carve-scope=file");
  DriverOptions O = taken(Argv, {}, Nvcc);
  EXPECT_EQ(O.Run, RunMode::None);
  EXPECT_EQ(O.Scope, TuningScope::File);
}

TEST(DriverOptions, everyOption_given_isRead) {
  DriverOptions O =
      taken({"--carve-run=./app 4096", "--carve-output=a", "--carve-output=b",
             "--carve-timeout=2.5", "--carve-max-runs=12", "--carve-budget=90",
             "--carve-mode=replay", "--carve-scope=file", "--carve-launch-domain=traced",
             "--carve-profile=p.yaml", "--carve-log=l.txt", "--carve-samples=s.tsv",
             "--carve-effort=3", "--carve-help", "--carve-version", "--carve-cache-key"});
  EXPECT_EQ(O.Run, RunMode::Command);
  EXPECT_EQ(O.RunCommand, (Words{"./app", "4096"}));
  EXPECT_EQ(O.OutputFiles, (Words{"a", "b"}));
  EXPECT_EQ(O.TimeoutS, 2.5);
  EXPECT_EQ(O.MaxRuns, 12u);
  EXPECT_EQ(O.BudgetS, 90);
  EXPECT_EQ(O.Mode, ModeRequest::Replay);
  EXPECT_EQ(O.Scope, TuningScope::File);
  EXPECT_EQ(O.Domain, LaunchDomain::Traced);
  EXPECT_EQ(O.ProfilePath, "p.yaml");
  EXPECT_EQ(O.LogPath, "l.txt");
  EXPECT_EQ(O.Samples, "s.tsv");
  EXPECT_EQ(O.Effort, 3u);
  EXPECT_TRUE(O.ProfileByOption);
  EXPECT_TRUE(O.Help && O.Version && O.CacheKey);
}

TEST(DriverOptions, everyMode_given_isRead) {
  const std::pair<const char *, ModeRequest> Modes[] = {{"auto", ModeRequest::Auto},
                                                        {"fixed", ModeRequest::Fixed},
                                                        {"rotate", ModeRequest::Rotate},
                                                        {"replay", ModeRequest::Replay}};
  for (const auto &[Word, Mode] : Modes)
    EXPECT_EQ(taken({std::string("--carve-mode=") + Word}).Mode, Mode);
}

TEST(DriverOptions, workload_split_wordsAreThoseOfAShell) {
  EXPECT_EQ(taken({"--carve-run=./app 'a b' \"c d\" e\\ f"}).RunCommand,
            (Words{"./app", "a b", "c d", "e f"}));
  EXPECT_EQ(taken({"--carve-run"}).Run, RunMode::Auto);
  EXPECT_EQ(taken({"--carve-run=auto"}).Run, RunMode::Auto);
  EXPECT_EQ(taken({"--carve-run=none"}).Run, RunMode::None);
}

TEST(DriverOptions, environment_set_givesDefaults) {
  Variables Env = {{"CARVE_RUN", "./app 1"}, {"CARVE_PROFILE", "p"}, {"CARVE_LOG", "l"}};
  DriverOptions O = taken({}, Env);
  EXPECT_FALSE(O.ProfileByOption);
  EXPECT_EQ(O.RunCommand, (Words{"./app", "1"}));
  EXPECT_EQ(O.ProfilePath, "p");
  EXPECT_EQ(O.LogPath, "l");
  O = taken({"--carve-run=none", "--carve-profile=q", "--carve-log=m"}, Env);
  EXPECT_EQ(O.Run, RunMode::None);
  EXPECT_EQ(O.ProfilePath, "q");
  EXPECT_EQ(O.LogPath, "m");
  EXPECT_EQ(taken({}, {{"CARVE_RUN", ""}, {"CARVE_PROFILE", ""}}).Run, RunMode::Auto);
  EXPECT_EQ(taken({}, {{"CARVE_RUN", "none"}}).Run, RunMode::None);
  EXPECT_EQ(taken({}, {{"CARVE_EFFORT", "1"}}).Effort, 1u);
  EXPECT_EQ(taken({"--carve-effort=0"}, {{"CARVE_EFFORT", "1"}}).Effort, 0u);
  EXPECT_EQ(taken({}, {{"CARVE_EFFORT", ""}}).Effort, 2u);
}

TEST(DriverOptions, badOption_given_isAUsageError) {
  EXPECT_EQ(failure({"--carve-rum=none"}),
            "carve-nvcc: unknown option '--carve-rum'; --carve-help lists them");
  EXPECT_EQ(failure({"--carve-"}),
            "carve-nvcc: unknown option '--carve-'; --carve-help lists them");
  EXPECT_EQ(failure({"--carve-run="}),
            "carve-nvcc: --carve-run is '', expected a command, 'auto' or 'none'");
  EXPECT_EQ(failure({}, {{"CARVE_RUN", "  "}}),
            "carve-nvcc: CARVE_RUN is '  ', expected a command, 'auto' or 'none'");
  EXPECT_EQ(failure({"--carve-timeout=0"}),
            "carve-nvcc: --carve-timeout is '0', expected a number of seconds above 0");
  EXPECT_EQ(failure({"--carve-max-runs=0"}),
            "carve-nvcc: --carve-max-runs is '0', expected a whole number from 1 to 1000000");
  EXPECT_EQ(failure({"--carve-scope=program"}),
            "carve-nvcc: --carve-scope is 'program', expected kernel or file");
  EXPECT_EQ(failure({"--carve-effort=4"}),
            "carve-nvcc: --carve-effort is '4', expected a whole number from 0 to 3");
  for (const char *Effort : {"4", "high"})
    EXPECT_EQ(failure({}, {{"CARVE_EFFORT", Effort}}),
              std::string("carve-nvcc: CARVE_EFFORT is '") + Effort +
                  "', expected a whole number from 0 to 3");
  EXPECT_EQ(failure({"--carve-budget=-1"}),
            "carve-nvcc: --carve-budget is '-1', expected a number of seconds above 0");
  EXPECT_EQ(failure({"--carve-mode=fast"}),
            "carve-nvcc: --carve-mode is 'fast', expected auto or fixed or rotate or replay");
  EXPECT_EQ(failure({"--carve-launch-domain=all"}),
            "carve-nvcc: --carve-launch-domain is 'all', expected preserve or traced");
  // If a value could be the next word, it would take one of nvcc's words.
  for (const char *Name :
       {"--carve-output", "--carve-timeout", "--carve-max-runs", "--carve-budget", "--carve-mode",
        "--carve-scope", "--carve-launch-domain", "--carve-profile", "--carve-log",
        "--carve-samples"})
    EXPECT_EQ(failure({Name, "x"}),
              std::string("carve-nvcc: ") + Name + " needs a value: " + Name + "=...");
  EXPECT_EQ(failure({"--carve-help=1"}), "carve-nvcc: --carve-help takes no value, not '1'");
}

TEST(DriverOptions, help_forAPersonOrForCompletion_isMadeOfTheTable) {
  std::string Help = driverHelp(/*ForCompletion=*/false);
  EXPECT_NE(Help.find("\n  --carve-run[=COMMAND]"), std::string::npos) << Help;
  EXPECT_NE(Help.find("(default: 2; also: CARVE_EFFORT)"), std::string::npos) << Help;
  EXPECT_NE(Help.find("(default: 8 plain runs"), std::string::npos) << Help;
  std::string Words = driverHelp(/*ForCompletion=*/true);
  EXPECT_NE(Words.find("--carve-scope= kernel file\n"), std::string::npos) << Words;
  EXPECT_NE(Words.find("--carve-quiet\n"), std::string::npos) << Words;
  EXPECT_TRUE(taken({"--carve-help=words"}).HelpWords);
  EXPECT_FALSE(taken({"--carve-help"}).HelpWords);
}
