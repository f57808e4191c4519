// What `--version` of the tools prints, and how a build learns its commit.
#include "DriverTier.h"

#include "llvm/Support/Program.h"

#include <regex>

using namespace carve;

namespace {

class VersionTest : public DriverTierTest {
protected:
  /// Runs \p Script in the work directory, which has nothing of the machine's git configuration.
  std::string shell(const std::string &Script) {
    Ended E = run({"/bin/sh", "-c", Script});
    EXPECT_EQ(E.Status, 0) << Script << "\n" << E.Stdout << E.Stderr;
    return E.Stdout;
  }
  /// The header that the build writes for the sources in \p Folder.
  std::string commitHeader(const std::string &Folder) {
    llvm::ErrorOr<std::string> Git = llvm::sys::findProgramByName("git");
    shell(CARVE_CMAKE " -DGit=" + (Git ? *Git : "") + " -DSource=" + path(Folder) + " -DHeader=" +
          path("out/Commit.h") + " -P " CARVE_SOURCE_DIR "/lib/Version/Commit.cmake");
    return read("out/Commit.h");
  }
};

} // namespace

TEST_F(VersionTest, version_ofEveryTool_namesVersionLlvmAndToolkits) {
  const std::regex Expected("\\S+ \\d+\\.\\d+\\.\\d+\n"
                            "(commit    [0-9a-f]{12,}(-dirty)?\n)?"
                            "LLVM      \\d+\\.\\d+\\.\\d+\\S*\n"
                            "toolkits  CUDA \\d+\\.\\d+ to \\d+\\.\\d+\n");
  for (const Words &Argv : {Words{CARVE_TOOL, "--version"}, Words{CARVE_LAUNCH_TOOL, "--version"},
                            Words{CARVE_NVCC_TOOL, "--carve-version"}}) {
    Ended E = run(Argv);
    EXPECT_EQ(E.Status, 0);
    EXPECT_EQ(E.Stderr, "");
    EXPECT_TRUE(std::regex_match(E.Stdout, Expected)) << E.Stdout;
    std::string Program = std::filesystem::path(Argv[0]).filename();
    EXPECT_EQ(E.Stdout.find(Program + " "), 0u) << E.Stdout;
  }
}

TEST_F(VersionTest, nvccsOption_toCarveNvcc_printsWhatNvccPrints) {
  Ended Ours = carveNvcc({"--version"}), Nvccs = run({path("cuda/bin/nvcc"), "--version"});
  EXPECT_EQ(Ours.Stdout, Nvccs.Stdout);
  EXPECT_EQ(Ours.Stderr, Nvccs.Stderr);
  EXPECT_EQ(Ours.Status, Nvccs.Status);
}

TEST_F(VersionTest, commit_ofACheckout_isThatAndWhetherFilesDiffer) {
  if (!llvm::sys::findProgramByName("git"))
    GTEST_SKIP() << "no git";
  std::string Commit =
      shell("git init -q && echo one >file && git add file && git -c user.name=n -c "
            "user.email=e commit -q -m m && git rev-parse --short=12 HEAD");
  Commit.pop_back();
  EXPECT_EQ(commitHeader("work"), "#define CARVE_COMMIT \"" + Commit + "\"\n");
  auto Written = std::filesystem::last_write_time(path("out/Commit.h"));
  commitHeader("work");
  EXPECT_EQ(std::filesystem::last_write_time(path("out/Commit.h")), Written)
      << "a header that says the same must not be compiled again";
  shell("echo new >untracked");
  EXPECT_EQ(commitHeader("work"), "#define CARVE_COMMIT \"" + Commit + "\"\n");
  shell("echo two >file");
  EXPECT_EQ(commitHeader("work"), "#define CARVE_COMMIT \"" + Commit + "-dirty\"\n");
  // An archive that is unpacked inside of a checkout is not of that commit.
  EXPECT_EQ(commitHeader("work/obj"), "#define CARVE_COMMIT \"\"\n");
}

TEST_F(VersionTest, commit_ofNoCheckout_isEmpty) {
  EXPECT_EQ(commitHeader("work"), "#define CARVE_COMMIT \"\"\n");
}
