// find_package(CarveNvcc) and its functions with the installed CMake. Recorded samples take the
// place of the GPU.
#include "BuiltTools.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace carve;

namespace {

const std::string Samples = CARVE_TEST_INPUTS "/samples/three.samples";
/// The build tree has the layout of an installation.
const std::string Prefix =
    llvm::sys::path::parent_path(llvm::sys::path::parent_path(CARVE_NVCC_PROGRAM)).str();

/// Returns \p Text with every run of spaces and ends of lines replaced by one space.
std::string oneLine(llvm::StringRef Text) {
  llvm::SmallVector<llvm::StringRef> Words;
  llvm::SplitString(Text, Words);
  return llvm::join(Words, " ");
}

class CMakeModule : public BuiltToolsTest {
protected:
  void SetUp() override {
    BuiltToolsTest::SetUp();
    if (IsSkipped())
      return;
    for (const char *Program : {"cmake", "ninja", "make"})
      if (!llvm::sys::findProgramByName(Program))
        GTEST_SKIP() << "no " << Program;
    keepKernels({"bulky"});
  }

  CommandResult cmake(Words Arguments, const Words &Environment = {}) {
    Arguments.insert(Arguments.begin(), "cmake");
    Words All = {"CCACHE_COMPILERCHECK", "CMAKE_PREFIX_PATH", "CMAKE_GENERATOR"};
    All.insert(All.end(), Environment.begin(), Environment.end());
    return run(std::move(Arguments), environment(All));
  }
  /// Configures a project in p/ into b/.
  CommandResult configure(const std::string &Lists, const Words &More = {},
                          const Words &Environment = {}) {
    write("p/CMakeLists.txt", "cmake_minimum_required(VERSION 3.18)\n" + Lists);
    Words Arguments = {"-S", "p", "-B", "b", "-DCMAKE_PREFIX_PATH=" + Prefix};
    Arguments.insert(Arguments.end(), More.begin(), More.end());
    return cmake(Arguments, Environment);
  }
  /// Does the same for a project without a compile, which only names the compiler.
  CommandResult configureNaming(const std::string &Compiler, const std::string &Rest,
                                const Words &Environment = {}) {
    llvm::sys::fs::remove_directories(path("b"));
    return configure("project(p LANGUAGES NONE)\nset(CMAKE_CUDA_COMPILER \"" + Compiler +
                         "\")\nfind_package(CarveNvcc REQUIRED)\n" + Rest,
                     {"-GNinja"}, Environment);
  }
  /// Configures a project of three.cu with \p Rest at its end.
  void configureThree(const std::string &Rest, const Words &More);
  void buildProject(const Words &More, llvm::StringRef Says);
};

void CMakeModule::configureThree(const std::string &Rest, const Words &More) {
  write("p/three.cu", read("three.cu"));
  Words Arguments = {std::string("-DCMAKE_CUDA_COMPILER=") + CARVE_NVCC_PROGRAM,
                     "-DCMAKE_CUDA_ARCHITECTURES=90", "-DCMAKE_CUDA_FLAGS=--no-compress"};
  Arguments.insert(Arguments.end(), More.begin(), More.end());
  CommandResult R = configure("project(p LANGUAGES CXX CUDA)\n"
                              "find_package(CarveNvcc REQUIRED)\n"
                              "add_executable(app three.cu)\n" +
                                  Rest,
                              Arguments);
  ASSERT_TRUE(R.succeeded()) << R.Stdout << R.Stderr;
  EXPECT_EQ(R.Stderr, "");
}

void CMakeModule::buildProject(const Words &More, llvm::StringRef Says) {
  Words Arguments = {"--build", "b"};
  Arguments.insert(Arguments.end(), More.begin(), More.end());
  CommandResult R = cmake(Arguments);
  EXPECT_TRUE(R.succeeded()) << R.Stdout << R.Stderr;
  EXPECT_NE(R.Stdout.find(Says), std::string::npos) << R.Stdout;
}

struct Generator {
  const char *Name;
  std::vector<std::string> Options; ///< Options of the configure step.
  std::vector<std::string> Config;  ///< Options of `cmake --build`.
  std::string Program;
};

void PrintTo(const Generator &G, std::ostream *OS) { *OS << G.Name; }

class CMakeGenerators : public CMakeModule, public testing::WithParamInterface<Generator> {};

} // namespace

TEST_P(CMakeGenerators, tuneTarget_commandOrTest_isTheWorkload) {
  const Generator &G = GetParam();
  configureThree(
      "enable_testing()\n"
      "add_test(NAME runs.fast+more COMMAND app)\n"
      "set(Recorded OPTIONS --samples=" +
          Samples +
          ")\n"
          "carve_add_tune_target(COMMAND app 4096 \"a b\" PROFILE tuned.yaml ${Recorded})\n"
          "carve_add_tune_target(TARGET by-test TEST runs.fast+more DEPENDS app\n"
          "  ${Recorded})\n"
          "carve_add_tune_target(TARGET by-gpu COMMAND app)\n",
      G.Options);
  auto Target = [&](const char *Name) {
    Words Arguments = {"--target", Name};
    Arguments.insert(Arguments.end(), G.Config.begin(), G.Config.end());
    return Arguments;
  };
  // The target builds the program first.
  buildProject(Target("carve-tune"), "Build again to put them in: cmake --build ");
  ASSERT_TRUE(exists(G.Program));
  EXPECT_NE(read("p/tuned.yaml").find("app 4096 a b\"\n"), std::string::npos);
  Words Again = G.Config;
  Again.push_back("--clean-first");
  buildProject(Again, "");
  EXPECT_EQ(kernelsOf(G.Program)[Bulky].Resources.RegsPerThread, 64u);

  buildProject(Target("by-test"), "1 kernel tuned");
  std::string Report = carve({"report", "--format=json"}).Stdout;
  EXPECT_NE(Report.find("-R ^(runs\\\\.fast\\\\+more)$"), std::string::npos) << Report;

  Words NoGpu = {"--build", "b"};
  for (const std::string &Word : Target("by-gpu"))
    NoGpu.push_back(Word);
  CommandResult R = cmake(NoGpu);
  EXPECT_FALSE(R.succeeded());
  std::string Printed = R.Stdout + R.Stderr;
  EXPECT_EQ(llvm::StringRef(Printed).count("no GPU is present"), 1u) << Printed;
  EXPECT_EQ(llvm::StringRef(R.Stdout).count("\nThe decisions are kept"), 0u) << R.Stdout;
}

const Generator Generators[] = {
    {"Ninja", {"-GNinja"}, {}, "b/app"},
    {"MultiConfig", {"-GNinja Multi-Config"}, {"--config", "Release"}, "b/Release/app"},
    {"Makefiles", {"-GUnix Makefiles", "-DCMAKE_BUILD_TYPE=Release"}, {}, "b/app"},
};
INSTANTIATE_TEST_SUITE_P(, CMakeGenerators, testing::ValuesIn(Generators),
                         [](const auto &Info) { return std::string(Info.param.Name); });

// The command that carve gets runs the test and prints its output.
TEST_F(CMakeModule, tuneTarget_commandOfATest_runsIt) {
  CommandResult R = configureNaming(
      CARVE_NVCC_PROGRAM, "enable_testing()\n"
                          "add_test(NAME a.b COMMAND echo from-the-test)\n"
                          "add_test(NAME axb COMMAND echo from-another)\n"
                          "_carve_test_command(Words a.b)\n"
                          "add_custom_target(try COMMAND ${Words} VERBATIM "
                          "COMMAND_EXPAND_LISTS WORKING_DIRECTORY ${CMAKE_BINARY_DIR})\n");
  ASSERT_TRUE(R.succeeded()) << R.Stderr;
  R = cmake({"--build", "b", "--target", "try"});
  EXPECT_TRUE(R.succeeded()) << R.Stdout;
  EXPECT_NE(R.Stdout.find("1: from-the-test\n"), std::string::npos) << R.Stdout;
  EXPECT_EQ(R.Stdout.find("from-another"), std::string::npos) << R.Stdout;
}

TEST_F(CMakeModule, package_givesToolsAndVersion) {
  CommandResult R = configureNaming(
      CARVE_NVCC_PROGRAM, "message(STATUS \"found ${CarveNvcc_FOUND} ${CarveNvcc_VERSION}\")\n"
                          "foreach(Tool carve carve-nvcc)\n"
                          "  get_target_property(Path CarveNvcc::${Tool} IMPORTED_LOCATION)\n"
                          "  message(STATUS \"at ${Path}\")\n"
                          "endforeach()\n");
  std::string Version = carve({"--version"}).Stdout; // It begins with `carve 0.1.0`.
  Version = Version.substr(0, Version.find('\n') + 1);
  EXPECT_NE(R.Stdout.find("found 1 " + Version.substr(6)), std::string::npos) << R.Stdout;
  EXPECT_NE(R.Stdout.find(std::string("at ") + CARVE_PROGRAM + "\n"), std::string::npos);
  EXPECT_NE(R.Stdout.find(std::string("at ") + CARVE_NVCC_PROGRAM + "\n"), std::string::npos);
}

TEST_F(CMakeModule, package_withoutItsTools_isNotFound) {
  for (const char *File :
       {"CarveNvccConfig.cmake", "CarveNvcc.cmake", "CarveNvccConfigVersion.cmake"})
    write(std::string("tree/share/cmake/CarveNvcc/") + File,
          llvm::cantFail(readFile(Prefix + "/share/cmake/CarveNvcc/" + File)));
  const std::string Lists = "project(p LANGUAGES NONE)\nfind_package(CarveNvcc REQUIRED)\n";
  CommandResult R = configure(Lists, {"-DCarveNvcc_ROOT=" + path("tree")});
  EXPECT_FALSE(R.succeeded());
  EXPECT_NE(R.Stderr.find("tree/bin/carve-nvcc is missing"), std::string::npos) << R.Stderr;
  R = configure("project(p LANGUAGES NONE)\nfind_package(CarveNvcc 99 REQUIRED)\n");
  EXPECT_FALSE(R.succeeded()) << R.Stdout;
}

TEST_F(CMakeModule, tuneTarget_otherCompilerOrCache_warns) {
  const std::string Tune = "carve_add_tune_target(COMMAND true)\n"
                           "carve_add_tune_target(TARGET again COMMAND true)\n";
  auto Warnings = [&](const std::string &Compiler, const std::string &Launcher,
                      const Words &Environment = {}) {
    CommandResult R = configureNaming(
        Compiler, "set(CMAKE_CUDA_COMPILER_LAUNCHER \"" + Launcher + "\")\n" + Tune, Environment);
    EXPECT_TRUE(R.succeeded()) << R.Stderr;
    return R.Stderr;
  };
  std::string Text = Warnings(Tools.Nvcc, "");
  EXPECT_EQ(llvm::StringRef(Text).count("CMake Warning"), 1u) << Text;
  // CMake may break the lines of messages anywhere.
  EXPECT_NE(oneLine(Text).find("which is not carve-nvcc"), std::string::npos) << Text;
  EXPECT_EQ(Warnings(CARVE_NVCC_PROGRAM, ""), "");
  EXPECT_EQ(Warnings(CARVE_NVCC_PROGRAM, "time"), "");
  // Old build files call the compiler by this name.
  ASSERT_FALSE(llvm::sys::fs::create_link(CARVE_NVCC_PROGRAM, path("nvcc")));
  EXPECT_EQ(Warnings(path("nvcc"), ""), "");

  EXPECT_EQ(Warnings(CARVE_NVCC_PROGRAM, "ccache"), "");
  Text = Warnings(CARVE_NVCC_PROGRAM, "sccache");
  EXPECT_EQ(llvm::StringRef(Text).count("CMake Warning"), 1u) << Text;
  EXPECT_NE(oneLine(Text).find("so that no kernel is tuned"), std::string::npos) << Text;
}

TEST_F(CMakeModule, launcherIsCcache_isToldHowToAsk) {
  auto Launcher = [&](const std::string &Compiler, const std::string &Given,
                      const Words &Environment = {}) {
    llvm::sys::fs::remove_directories(path("b"));
    CommandResult R = configure("project(p LANGUAGES NONE)\nset(CMAKE_CUDA_COMPILER \"" + Compiler +
                                    "\")\nset(CMAKE_CUDA_COMPILER_LAUNCHER \"" + Given +
                                    "\")\nfind_package(CarveNvcc REQUIRED)\n"
                                    "message(STATUS \"is <${CMAKE_CUDA_COMPILER_LAUNCHER}>\")\n",
                                {"-GNinja"}, Environment);
    EXPECT_EQ(R.Stderr, "");
    llvm::StringRef Text = R.Stdout;
    return Text.substr(Text.find("is <") + 4).split('>').first.str();
  };
  EXPECT_EQ(Launcher(CARVE_NVCC_PROGRAM, "/usr/bin/ccache"),
            "env;CCACHE_COMPILERCHECK=%compiler% --carve-cache-key;/usr/bin/ccache");
  const Words Own = {"CCACHE_COMPILERCHECK=content"};
  EXPECT_EQ(Launcher(CARVE_NVCC_PROGRAM, "ccache", Own), "ccache");
  EXPECT_EQ(Launcher(CARVE_NVCC_PROGRAM, "env;CCACHE_COMPILERCHECK=none;ccache"),
            "env;CCACHE_COMPILERCHECK=none;ccache");
  EXPECT_EQ(Launcher(Tools.Nvcc, "ccache"), "ccache");
  EXPECT_EQ(Launcher(CARVE_NVCC_PROGRAM, "time"), "time");
}

namespace {

class CMakeProfiles : public CMakeModule, public testing::WithParamInterface<Generator> {};

} // namespace

TEST_P(CMakeProfiles, profileThatComesChangesAndGoes_isBuiltEachTime) {
  configureThree("carve_target_profile(app tuned.yaml)\n", GetParam().Options);
  const bool IsNinja = llvm::StringRef(GetParam().Name) == "Ninja";
  auto Regs = [&] {
    buildProject(GetParam().Config, "");
    return kernelsOf(GetParam().Program)[Bulky].Resources.RegsPerThread;
  };
  const unsigned Default = Regs();
  writeProfile(BulkyName, BulkyCap);
  ::usleep(1100000); // Make compares whole seconds on some file systems.
  write("p/tuned.yaml", read("profile.yaml"));
  EXPECT_EQ(Regs(), BulkyCap) << "the profile was added";
  if (IsNinja)
    buildProject({}, "no work to do");
  writeProfile(BulkyName, 72);
  ::usleep(1100000);
  write("p/tuned.yaml", read("profile.yaml"));
  EXPECT_EQ(Regs(), 72u) << "the profile was changed";
  if (IsNinja)
    buildProject({}, "no work to do");
  ASSERT_FALSE(llvm::sys::fs::remove(path("p/tuned.yaml")));
  EXPECT_EQ(Regs(), Default) << "the profile was removed";
}

INSTANTIATE_TEST_SUITE_P(, CMakeProfiles, testing::Values(Generators[0], Generators[2]),
                         [](const auto &Info) { return std::string(Info.param.Name); });

TEST_F(CMakeModule, mistakes_areReportedAtConfigureTime) {
  for (auto [Arguments, Message] :
       {std::pair("", "expected either COMMAND or TEST"),
        std::pair("COMMAND true TEST a", "expected either COMMAND or TEST"),
        std::pair("COMAND true", "unknown 'COMAND"),
        std::pair("TEST a WORKING_DIRECTORY d", "a TEST has a WORKING_DIRECTORY of its own")}) {
    CommandResult R = configureNaming(CARVE_NVCC_PROGRAM,
                                      "carve_add_tune_target(" + std::string(Arguments) + ")\n");
    EXPECT_FALSE(R.succeeded()) << Arguments;
    EXPECT_NE(R.Stderr.find(Message), std::string::npos) << R.Stderr;
  }
}

TEST_F(CMakeModule, targetProfile_plainNvccOrMissingProfile_isNoMistake) {
  // Plain nvcc does not know the option.
  CommandResult R = configureNaming(Tools.Nvcc, "add_custom_target(t)\n"
                                                "carve_target_profile(t tuned.yaml)\n");
  EXPECT_TRUE(R.succeeded()) << R.Stderr;
  R = configureNaming(CARVE_NVCC_PROGRAM, "add_custom_target(t)\n"
                                          "carve_target_profile(t none.yaml)\n");
  EXPECT_TRUE(R.succeeded()) << R.Stderr;
}
