#include "Nvcc/CommandRewrite.h"
#include "RealNvcc.h"

#include "Nvcc/BuildPlan.h"

using namespace carve;

namespace {

class NvccCommands : public RealNvccTest {
protected:
  /// Compiles \p Arguments as they are and with the output redirected. Checks that the depfile
  /// \p Depfile is the same and that nothing is written to the original output.
  void expectSameDepfile(const Words &Arguments, const std::string &Depfile) {
    SCOPED_TRACE(testing::PrintToString(Arguments));
    CommandLine C = parsed(Arguments);
    compile(Arguments);
    ASSERT_TRUE(exists(Depfile));
    ASSERT_TRUE(exists(C.Output));
    std::string Before = read(Depfile), Output = stripped(C.Output);
    llvm::sys::fs::remove(path(Depfile));
    llvm::sys::fs::remove(path(C.Output));
    compile(withOutput(C, "redirected"));
    EXPECT_EQ(read(Depfile), Before);
    EXPECT_TRUE(stripped("redirected") == Output);
    EXPECT_FALSE(exists(C.Output));
  }

  /// Links \p Arguments in one step, and again from the objects of that compile. Checks that the
  /// executables are equal.
  void expectSameExecutable(const Words &Arguments) {
    SCOPED_TRACE(testing::PrintToString(Arguments));
    CommandLine C = parsed(Arguments);
    ASSERT_FALSE(llvm::sys::fs::create_directories(path("keep")));
    Words Keeping = Arguments;
    Keeping.insert(Keeping.end(), {"--keep", "--keep-dir", "keep"});
    compile(Keeping);
    std::string OneStep = stripped(C.Output);
    Keeping.push_back("--dryrun");
    BuildPlan Plan = llvm::cantFail(parseDryrun(nvcc(Keeping).Stderr));
    llvm::StringMap<std::string> ObjectOf;
    for (const DeviceUnit &U : Plan.Units)
      ObjectOf[U.Source] = U.ObjectPath;
    compile(relinkArguments(C, ObjectOf, "again"));
    EXPECT_TRUE(stripped("again") == OneStep);
    llvm::sys::fs::remove(path(C.Output));
    compile(Arguments);
    EXPECT_TRUE(stripped(C.Output) == OneStep) << "--keep changed the executable";
  }
};

TEST_F(NvccCommands, depfile_outputRedirected_isTheSame) {
  llvm::sys::fs::create_directories(path("o.d"));
  expectSameDepfile({"-arch=sm_90", "-MD", "-c", "main.cu", "-o", "o.d/main.cu.o"},
                    "o.d/main.cu.d");
  expectSameDepfile({"-arch=sm_90", "-MMD", "-MP", "-c", "sub/other.cu"}, "other.d");
  expectSameDepfile({"-arch=sm_90", "-MMD", "-MF", "x y.d", "-c", "main.cu"}, "x y.d");
  expectSameDepfile({"-arch=sm_90", "-MMD", "main.cu"}, "main.d");
}

TEST_F(NvccCommands, relinkedExecutable_oneSource_isTheSame) {
  expectSameExecutable({"-O3", "-arch=sm_90", "main.cu"});
}

TEST_F(NvccCommands, relinkedExecutable_mixedSources_isTheSame) {
  compile({"-c", "host.cpp", "-o", "given.o"});
  write("host2.cpp", "int host2() { return 0; }\n");
  expectSameExecutable({"-arch=sm_90", "-DWHOLE", "-std=c++17", "main.cu", "-lm", "sub/other.cu",
                        "host2.cpp", "given.o", "-o", "app"});
}

TEST_F(NvccCommands, relinkedExecutable_relocatableCode_isTheSame) {
  expectSameExecutable(
      {"-arch=sm_90", "-rdc=true", "-DWHOLE", "main.cu", "sub/other.cu", "host.cpp", "-o", "app"});
}

TEST_F(NvccCommands, relinkedExecutable_languageAndDepfile_isTheSame) {
  write("whole.cpp", read("main.cu"));
  write("in.rsp", "-x cu \"whole.cpp\" -maxrregcount=32");
  expectSameExecutable({"-arch=sm_90", "-MMD", "-MF", "d", "-optf", "in.rsp", "-o", "app"});
}

TEST_F(NvccCommands, registerCap_reachesPtxasOnce) {
  const Words Given[] = {
      {"-arch=sm_90", "-c", "main.cu"},
      {"-arch=sm_90", "-maxrregcount=64", "-maxrregcount", "32", "-c", "main.cu"},
      {"-arch=sm_90", "-Xptxas", "--maxrregcount", "-Xptxas", "64,-v", "-c", "main.cu"},
  };
  for (const Words &Arguments : Given) {
    Words Capped = withRegisterCap(parsed(Arguments), 40, "t.o");
    Capped.insert(Capped.end(), {"--dryrun", "--keep"});
    CommandResult R = nvcc(Capped);
    EXPECT_EQ(R.Stderr.find("warning"), std::string::npos) << R.Stderr;
    BuildPlan Plan = llvm::cantFail(parseDryrun(R.Stderr));
    std::string Options = testing::PrintToString(Plan.Units.at(0).Images.at(0).PtxasOptions);
    EXPECT_NE(Options.find("-maxrregcount=40"), std::string::npos) << Options;
    EXPECT_EQ(Options.find("maxrregcount"), Options.rfind("maxrregcount")) << Options;
    EXPECT_EQ(Plan.Units[0].ObjectPath, "t.o");
  }
}

/// Checks that carve-nvcc finds the cap that ptxas uses.
TEST_F(NvccCommands, registerCap_severalGiven_lastOneIsFound) {
  const Words Given[] = {
      {"-maxrregcount=64", "-Xptxas", "-maxrregcount=32"},
      {"-maxrregcount=0x30"},
      {"-maxrregcount=040"},
      {"-maxrregcount=40", "-maxrregcount=0"},
      {"-Xptxas=--maxrregcount,48"},
  };
  for (Words Arguments : Given) {
    Arguments.insert(Arguments.end(), {"-arch=sm_90", "-c", "main.cu"});
    SCOPED_TRACE(testing::PrintToString(Arguments));
    std::optional<unsigned> Cap = parsed(Arguments).RegisterCap;
    Arguments.insert(Arguments.end(), {"--dryrun", "--keep"});
    BuildPlan Plan = llvm::cantFail(parseDryrun(nvcc(Arguments).Stderr));
    std::string Last;
    const Words &Options = Plan.Units.at(0).Images.at(0).PtxasOptions;
    for (size_t I = 0; I < Options.size(); ++I)
      if (llvm::StringRef(Options[I]).contains("maxrregcount"))
        Last = Options[I].find('=') != std::string::npos
                   ? Options[I].substr(Options[I].find('=') + 1)
                   : Options.at(I + 1);
    EXPECT_EQ(Cap ? std::to_string(*Cap) : "", Last);
  }
}

} // namespace
