// Record, tune, rebuild. A build system makes the right outputs again after a tuning, and an object
// for which only the decisions changed is made without nvcc's front end.
#include "BuiltTools.h"

#include "llvm/Support/Program.h"

#include <fcntl.h>
#include <sys/stat.h>

using namespace carve;

namespace {

class Rebuild : public BuiltToolsTest {
protected:
  const Words Object = {"-O3", "-arch=sm_90", "--no-compress", "-c",  "three.cu",
                        "-o",  "three.o",     "-MD",           "-MF", "three.d"};

  void SetUp() override {
    BuiltToolsTest::SetUp();
    if (IsSkipped())
      return;
    keepKernels({"bulky"});
    // The source has a header of its own, and a warning for nvcc to print.
    write("mine.h", "#pragma once\n");
    write("three.cu", "#include \"mine.h\"\n" + read("three.cu") + "static int Unused;\n");
    settle();
  }
  /// Lets written files get older, because files that are as young as the compile are not trusted.
  static void settle() { ::usleep(50000); }
  void tuneWithSamples() {
    CommandResult R =
        carve({"tune", "--samples=" CARVE_TEST_INPUTS "/samples/three.samples", "--", "./app"});
    EXPECT_TRUE(R.succeeded()) << R.Stderr << log();
    Advice = R.Stdout;
  }
  std::string decisionFile() {
    std::vector<Unit> Units = store().units();
    EXPECT_EQ(Units.size(), 1u);
    return path("store/decisions/" + Units.front().Key + ".yaml");
  }
  void decide(unsigned Cap) {
    writeProfile(BulkyName, Cap);
    ASSERT_FALSE(llvm::sys::fs::copy_file(path("profile.yaml"), decisionFile()));
  }
  CommandResult compileAgain(const Words &Environment = {}) {
    CommandResult R = carveNvcc(Object, Environment);
    EXPECT_TRUE(R.succeeded()) << R.Stderr << log();
    expectNoTemporaries();
    return R;
  }
  bool madeFromStore() { return logSays("made from the store"); }
  unsigned bulkyRegs() { return kernelsOf("three.o")[Bulky].Resources.RegsPerThread; }

  std::string Advice; ///< What the last tuning printed.
};

} // namespace

TEST_F(Rebuild, objectFromTheStore_isWhatACompileMakes) {
  CommandResult First = compileAgain();
  EXPECT_NE(First.Stderr.find("Unused"), std::string::npos) << First.Stderr;
  std::string Untuned = read("three.o");
  for (unsigned Cap : {64u, 72u}) {
    decide(Cap);
    CommandResult Again = compileAgain();
    EXPECT_TRUE(madeFromStore()) << log();
    EXPECT_FALSE(logSays("/nvcc ")) << log();
    EXPECT_EQ(Again.Stderr, First.Stderr);
    EXPECT_EQ(Again.Stdout, First.Stdout);
    EXPECT_EQ(bulkyRegs(), Cap);
    std::string Fast = read("three.o"), Depfile = read("three.d");
    ASSERT_FALSE(llvm::sys::fs::remove(path("three.o")));
    compileAgain();
    EXPECT_FALSE(madeFromStore());
    EXPECT_TRUE(read("three.o") == Fast);
    EXPECT_EQ(read("three.d"), Depfile);
  }
  // This decides for the default again.
  write("none.yaml", "carve-profile: 1\nkernels: []\n");
  ASSERT_FALSE(llvm::sys::fs::copy_file(path("none.yaml"), decisionFile()));
  compileAgain();
  EXPECT_TRUE(madeFromStore()) << log();
  EXPECT_TRUE(read("three.o") == Untuned);
}

TEST_F(Rebuild, anyOtherChange_hasNvccCompile) {
  compileAgain();
  unsigned Cap = 48;
  auto Compiles = [&](const char *What, const Words &Environment = {}) {
    decide(Cap += 8);
    settle();
    compileAgain(Environment);
    EXPECT_FALSE(madeFromStore()) << What;
    EXPECT_EQ(bulkyRegs(), Cap) << What;
  };
  write("mine.h", "#pragma once\n// changed\n");
  Compiles("a header");
  write("three.cu", read("three.cu") + "// changed\n");
  Compiles("the source");
  ASSERT_TRUE(run({"strip", "-g", path("three.o")}).succeeded());
  Compiles("the object");
  EXPECT_TRUE(logSays("is not the object of the last compile")) << log();
  Compiles("the environment", {"CPATH=" + path("elsewhere")});
}

namespace {

/// A compile that reads files of which the preprocessed text does not tell.
class HiddenInputs : public Rebuild {
protected:
  /// Compiles with \p More. After \p Change and a new decision the object must be what a compile
  /// makes. If \p Known, it is made from the store without the change.
  template <typename Function>
  void expectCompiledAnew(const Words &More, Function Change, const Words &Environment = {},
                          bool Known = false) {
    Words Command = Object;
    Command.insert(Command.end(), More.begin(), More.end());
    auto Compile = [&] {
      CommandResult R = carveNvcc(Command, Environment);
      EXPECT_TRUE(R.succeeded()) << R.Stderr << log();
    };
    Compile();
    if (Known) {
      decide(72);
      Compile();
      EXPECT_TRUE(madeFromStore()) << log();
    }
    decide(64);
    Change();
    settle();
    Compile();
    std::string Got = stripped("three.o"), Log = log();
    ASSERT_FALSE(llvm::sys::fs::remove(path("three.o")));
    Compile();
    EXPECT_TRUE(stripped("three.o") == Got) << Log;
    EXPECT_EQ(bulkyRegs(), 64u);
  }
  void append(const std::string &Text) {
    write("three.cu", read("three.cu") + Text);
    settle();
  }
};

} // namespace

TEST_F(HiddenInputs, fileOfTheAssembler_changed_isRead) {
  write("table.s", ".long 1\n");
  append("asm(\".data\\n\" \".inc\" \"lude \\\"table.s\\\"\\n.text\");\n");
  expectCompiledAnew({}, [&] { write("table.s", ".long 2\n"); });
}

TEST_F(HiddenInputs, hostWordsFile_changed_isRead) {
  write("host.words", "-DVALUE=1\n");
  append("int Value = VALUE;\n");
  expectCompiledAnew({"-Xcompiler", "@host.words"}, [&] { write("host.words", "-DVALUE=2\n"); });
}

TEST_F(HiddenInputs, specsFile_changed_isRead) {
  write("my.specs", "*cc1plus:\n-fno-omit-frame-pointer\n\n");
  append("int hostOnly(int X) { return X * 3; }\n");
  expectCompiledAnew({"-Xcompiler", "-specs=my.specs"},
                     [&] { write("my.specs", "*cc1plus:\n-fomit-frame-pointer -O0\n\n"); });
}

TEST_F(HiddenInputs, headerInAFolderBefore_added_isRead) {
  write("late/lib/value.h", "#define VALUE 1\n");
  write("early/unrelated.h", "");
  append("#include <lib/value.h>\nint Value = VALUE;\n");
  expectCompiledAnew(
      {"-Iearly", "-Ilate"}, [&] { write("early/lib/value.h", "#define VALUE 2\n"); }, {},
      /*Known=*/true);
}

TEST_F(HiddenInputs, headerAskedFor_added_isRead) {
  append("#if __has_include(\"extra.h\")\nint Value = 2;\n#else\nint Value = 1;\n#endif\n");
  expectCompiledAnew({}, [&] { write("extra.h", ""); }, {}, /*Known=*/true);
}

TEST_F(HiddenInputs, compilerEarlierInPath_added_isUsed) {
  std::string Path = path("first") + ":/usr/bin:/bin";
  append("#ifdef FIRST\nint Value = 2;\n#endif\n");
  expectCompiledAnew(
      {},
      [&] {
        write("first/gcc", "#!/bin/sh\nexec /usr/bin/gcc -DFIRST \"$@\"\n");
        ::chmod(path("first/gcc").c_str(), 0755);
      },
      {"PATH=" + Path}, /*Known=*/true);
}

TEST_F(HiddenInputs, variableOfTheHostCompiler_changed_counts) {
  compileAgain({"GCC_EXTRA_DIAGNOSTIC_OUTPUT=fixits-v1"});
  decide(64);
  settle();
  compileAgain({"GCC_EXTRA_DIAGNOSTIC_OUTPUT=fixits-v2"});
  EXPECT_FALSE(madeFromStore()) << log();
  decide(72);
  compileAgain({"GCC_EXTRA_DIAGNOSTIC_OUTPUT=fixits-v2", "SHLVL=7", "MAKELEVEL=3", "TERM=other"});
  EXPECT_TRUE(madeFromStore()) << log(); // No compiler reads these variables.
}

TEST_F(Rebuild, touchedSource_isTheSameSource) {
  compileAgain();
  decide(64);
  settle();
  ASSERT_EQ(::utimensat(AT_FDCWD, path("three.cu").c_str(), nullptr, 0), 0);
  compileAgain();
  EXPECT_TRUE(madeFromStore()) << log();
  EXPECT_EQ(bulkyRegs(), 64u);
}

TEST_F(Rebuild, noNewDecision_hasNvccCompile) {
  compileAgain();
  compileAgain();
  EXPECT_FALSE(madeFromStore());
  EXPECT_TRUE(logSays("the decisions are those of the last compile")) << log();
}

TEST_F(Rebuild, tuning_changesDatesOfChangedDecisionsOnly) {
  compileAgain();
  auto Date = [&] {
    struct stat S = {};
    EXPECT_EQ(::stat(decisionFile().c_str(), &S), 0);
    return S.st_mtime;
  };
  EXPECT_EQ(Date(), 978307200); // In the year 2001.
  tuneWithSamples();
  EXPECT_GT(Date(), 978307200);
  EXPECT_NE(Advice.find("1 output(s) have a new decision: build again"), std::string::npos)
      << Advice;
  EXPECT_EQ(carve({"touch", "--list"}).Stdout, ""); // The depfile does that.
  EXPECT_NE(carve({"touch", "--list", "--all"}).Stdout.find("three.cu"), std::string::npos);
  compileAgain();
  EXPECT_TRUE(madeFromStore()) << log();
  timespec Old[2] = {{1000000000, 0}, {1000000000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, decisionFile().c_str(), Old, 0), 0);
  tuneWithSamples(); // The winner is the same.
  EXPECT_EQ(Date(), 1000000000);
  EXPECT_EQ(Advice.find("new decision"), std::string::npos) << Advice;
}

TEST_F(Rebuild, touch_buildWithoutDepfiles_touchesTheSource) {
  Words NoDepfile(Object.begin(), Object.end() - 3);
  EXPECT_TRUE(carveNvcc(NoDepfile).succeeded());
  EXPECT_EQ(carve({"touch"}).Stdout, "");
  tuneWithSamples();
  EXPECT_NE(Advice.find("run 'carve touch'"), std::string::npos) << Advice;
  struct stat Before, After;
  ASSERT_EQ(::stat(path("three.cu").c_str(), &Before), 0);
  settle();
  EXPECT_NE(carve({"touch", "--list"}).Stdout.find(path("three.cu") + " (for "), std::string::npos);
  EXPECT_EQ(carve({"touch", path("sub")}).Stdout, ""); // The output has no file in there.
  ASSERT_EQ(::stat(path("three.cu").c_str(), &After), 0);
  EXPECT_EQ(After.st_mtim.tv_nsec, Before.st_mtim.tv_nsec);
  EXPECT_EQ(carve({"touch", Work.path()}).Stdout.find("touched "), 0u);
  ASSERT_EQ(::stat(path("three.cu").c_str(), &After), 0);
  EXPECT_NE(After.st_mtim.tv_nsec, Before.st_mtim.tv_nsec);
  EXPECT_TRUE(carveNvcc(NoDepfile).succeeded());
  EXPECT_TRUE(madeFromStore()) << log();
  EXPECT_EQ(bulkyRegs(), 64u);
  EXPECT_EQ(carve({"touch", "--list", "--all"}).Stdout, "");
  EXPECT_NE(carve({"touch", "nowhere"}).Stderr.find("'nowhere' is not a directory"),
            std::string::npos);
}

TEST_F(Rebuild, severalObjects_ofOneCommand_areEachTuned) {
  write("host.cpp", "int host() { return 0; }\n");
  const Words Several = {"-arch=sm_90", "--no-compress", "-c", "main.cu", "three.cu", "host.cpp"};
  EXPECT_TRUE(plain(Several).succeeded());
  std::map<std::string, std::string> Plain;
  for (const char *Name : {"main.o", "three.o", "host.o"})
    Plain[Name] = stripped(Name);
  EXPECT_TRUE(carveNvcc(Several).succeeded());
  for (const auto &[Name, Bytes] : Plain)
    EXPECT_TRUE(stripped(Name) == Bytes) << Name;
  EXPECT_EQ(store().units().size(), 2u);
  writeProfile(BulkyName, 64);
  EXPECT_TRUE(carveNvcc(Several, {"CARVE_PROFILE=profile.yaml"}).succeeded());
  EXPECT_EQ(bulkyRegs(), 64u) << log();
  EXPECT_TRUE(stripped("main.o") == Plain["main.o"]);
  expectNoTemporaries();
}

namespace {

/// Two units, of which only three.cu's kernels are in the samples. Make or Ninja builds them.
class BuildSystem : public Rebuild {
protected:
  void SetUp() override {
    Rebuild::SetUp();
    if (IsSkipped())
      return;
    const std::string Nvcc = CARVE_NVCC_PROGRAM " -arch=sm_90 -MD -MF ";
    write("Makefile-plain",
          "all: three.o main.o\n%.o: %.cu\n\t" CARVE_NVCC_PROGRAM " -arch=sm_90 -c $< -o $@\n");
    for (const char *Phony : {"", "-MP "})
      write(std::string("Makefile") + (*Phony ? "-MP" : ""),
            "all: three.o main.o\n%.o: %.cu\n\t" + Nvcc + "$*.d " + Phony +
                "-c $< -o $@\n-include three.d main.d\n");
    write("build.ninja", "rule cu\n  command = " + Nvcc +
                             "$out.d -c $in -o $out\n  depfile = $out.d\n  deps = gcc\n"
                             "build three.o: cu three.cu\nbuild main.o: cu main.cu\n"
                             "default three.o main.o\n");
    settle();
  }
  /// Returns the objects that the build makes again.
  std::string built(const Words &Argv, const Words &More = {}) {
    auto Date = [&](const std::string &Name) {
      struct stat S = {};
      ::stat(path(Objects + Name).c_str(), &S);
      return S.st_mtim.tv_sec * 1000000000 + S.st_mtim.tv_nsec;
    };
    const std::string Ending = Objects.empty() ? ".o" : ".cu.o";
    auto Three = Date("three" + Ending), Main = Date("main" + Ending);
    settle();
    CommandResult R = run(Argv, environment(More));
    EXPECT_TRUE(R.succeeded()) << R.Stdout << R.Stderr;
    return std::string(Date("three" + Ending) != Three ? "three" : "") +
           (Date("main" + Ending) != Main ? " main" : "");
  }
  /// Records, tunes, rebuilds, deletes the store, and rebuilds. A build after each of these does
  /// nothing.
  void expectCycle(const Words &Build) {
    EXPECT_EQ(built(Build), "three main");
    EXPECT_EQ(built(Build), "");
    tuneWithSamples();
    EXPECT_EQ(built(Build), "three");
    EXPECT_TRUE(madeFromStore()) << log();
    EXPECT_EQ(built(Build), "");
    tuneWithSamples();
    EXPECT_EQ(built(Build), "");
    llvm::sys::fs::remove_directories(path("store"));
    EXPECT_EQ(built(Build), "three main");
    EXPECT_EQ(built(Build), "");
  }
  /// Checks a profile of bulky that CARVE_PROFILE names. It is set for an existing tree, edited,
  /// removed, set again, and unset. `carve touch` runs after changes that no depfile can tell.
  void expectProfileCycle(const Words &Build, bool HasDepfiles) {
    const Words With = {"CARVE_PROFILE=" + path("profile.yaml")};
    const std::string All = HasDepfiles ? "three main" : "three";
    EXPECT_EQ(built(Build), "three main");
    const unsigned Default = bulkyRegs();
    auto Expect = [&](const char *What, bool Touch, const std::string &Built, unsigned Regs,
                      const Words &More) {
      SCOPED_TRACE(What);
      settle();
      if (Touch || !HasDepfiles) {
        EXPECT_TRUE(carve({"touch"}, More).succeeded());
      }
      EXPECT_EQ(built(Build, More), Built);
      EXPECT_EQ(bulkyRegs(), Regs) << log();
      EXPECT_EQ(carve({"touch"}, More).Stdout, "");
      EXPECT_EQ(built(Build, More), "");
    };
    writeProfile(BulkyName, 64);
    Expect("set", true, All, 64, With);
    writeProfile(BulkyName, 72);
    Expect("edited", false, All, 72, With);
    ASSERT_FALSE(llvm::sys::fs::remove(path("profile.yaml")));
    Expect("removed", false, All, Default, With);
    writeProfile(BulkyName, 80);
    Expect("set again", true, All, 80, With);
    Expect("unset", true, "three", Default, {});
  }

  /// Where CMake puts the objects; empty for the build systems that put them beside the sources.
  std::string Objects;
};

} // namespace

TEST_F(BuildSystem, newDecision_ninjaMakesItsOutput) {
  auto Ninja = llvm::sys::findProgramByName("ninja");
  if (!Ninja)
    GTEST_SKIP() << "no ninja";
  expectCycle({*Ninja});
}

TEST_F(BuildSystem, newDecision_makeMakesItsOutput) {
  auto Make = llvm::sys::findProgramByName("make");
  if (!Make)
    GTEST_SKIP() << "no make";
  expectCycle({*Make});
}

/// The makefiles of CMake read the depfiles in a way of their own.
TEST_F(BuildSystem, newDecision_makefilesOfCMakeMakeItsOutput) {
  auto CMake = llvm::sys::findProgramByName("cmake"), Make = llvm::sys::findProgramByName("make");
  if (!CMake || !Make)
    GTEST_SKIP() << "no cmake or no make";
  write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.20)\nproject(three LANGUAGES CUDA)\n"
                          "add_library(three OBJECT three.cu main.cu)\n");
  CommandResult Configured =
      run({*CMake, "-G", "Unix Makefiles", "-S", ".", "-B", "build",
           "-DCMAKE_CUDA_ARCHITECTURES=90", "-DCMAKE_CUDA_COMPILER=" CARVE_NVCC_PROGRAM},
          environment({}));
  ASSERT_TRUE(Configured.succeeded()) << Configured.Stdout << Configured.Stderr;
  Objects = "build/CMakeFiles/three.dir/";
  expectCycle({*CMake, "--build", "build"});
}

TEST_F(BuildSystem, newDecision_makeWithPhonyHeadersMakesItsOutput) {
  auto Make = llvm::sys::findProgramByName("make");
  if (!Make)
    GTEST_SKIP() << "no make";
  expectCycle({*Make, "-f", "Makefile-MP"});
}

TEST_F(BuildSystem, profileOnATreeThatIsThere_ninjaMakesWhatItChanges) {
  auto Ninja = llvm::sys::findProgramByName("ninja");
  if (!Ninja)
    GTEST_SKIP() << "no ninja";
  expectProfileCycle({*Ninja}, /*HasDepfiles=*/true);
}

TEST_F(BuildSystem, profileOnATreeThatIsThere_makeMakesWhatItChanges) {
  auto Make = llvm::sys::findProgramByName("make");
  if (!Make)
    GTEST_SKIP() << "no make";
  expectProfileCycle({*Make}, /*HasDepfiles=*/true);
}

TEST_F(BuildSystem, profileAndNoDepfiles_touchHasMakeMakeWhatItChanges) {
  auto Make = llvm::sys::findProgramByName("make");
  if (!Make)
    GTEST_SKIP() << "no make";
  expectProfileCycle({*Make, "-f", "Makefile-plain"}, /*HasDepfiles=*/false);
}
